"""Members of a run that ended before its last step: diverged, or had nothing to train.

In version 0.2 an experiment could also stop members: its manifests name them under ``stopped``.
"""

import fnmatch
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grokatlas.engine import members

if TYPE_CHECKING:
    import numpy as np

MOST = 10  # members that a log names


def watched(columns: Iterable[str], declared: dict[str, str | None]) -> list[str]:
    """The columns that are finite as long as a member has not diverged: those with a direction.

    Others may be infinite or no number for reasons of their own, as a ratio is at 0 / 0.
    `declared` has patterns of columns that observables declare, each with its direction.
    """
    names = [name for name, direction in declared.items() if direction]
    return [c for c in columns if any(fnmatch.fnmatchcase(c, name) for name in names)]


def read(
    history: Path, spec: dict[str, Any], declared: dict[str, str | None]
) -> dict[str, dict[str, int]]:
    """The members that did not train to their end, for the manifest; only what there is.

    Args:
        history: of a finished run.
        spec: the run's.
        declared: as for `watched`.

    Returns:
        ``diverged``, the first logged step from which a loss, an error or an accuracy of the member
        is not finite to the end; ``untrained``, the step 0 of members that had reached
        ``train.stop`` there. All by member.
    """
    import numpy as np
    from pyarrow import parquet

    with parquet.ParquetFile(history) as file:
        names = watched(file.schema_arrow.names, declared)
        table = file.read(columns=["member", "step", *names])
    place, step, *logged = (  # by their memory: `to_numpy` imports pandas first
        np.concatenate([np.from_dlpack(chunk) for chunk in column.chunks])
        for column in table.columns
    )
    finite = np.all([np.ones_like(place), *map(np.isfinite, logged)], axis=0)
    endings = {"diverged": diverged(place, step, finite)}
    if "stop" in spec["train"]:
        moved = set(place[step > 0].tolist())
        endings["untrained"] = dict.fromkeys(sorted({*place.tolist()} - moved), 0)
    return {key: {str(m): s for m, s in steps.items()} for key, steps in endings.items() if steps}


def diverged(place: "np.ndarray", step: "np.ndarray", finite: "np.ndarray") -> dict[int, int]:
    """The first logged step of each member from which no row of it is finite; by member.

    Args:
        place: of the member, for each row of a history ``[R]``.
        step: of each row.
        finite: of each row: all that is watched is finite.
    """
    import numpy as np

    last = np.full(place.max() + 1, -1)  # finite row of each member
    np.maximum.at(last, place[finite], step[finite])
    after = step > last[place]
    first = np.full(len(last), step.max())
    np.minimum.at(first, place[after], step[after])
    return {int(member): int(first[member]) for member in np.unique(place[after])}


def summary(manifest: dict[str, Any]) -> str:
    """The number of members that diverged or were stopped, and from when on, in words."""
    counts = []
    for key, text in (("diverged", "diverged"), ("stopped", "stopped by the watch")):
        if steps := manifest.get(key, {}):
            first = f"the first at step {min(steps.values())}"
            counts.append(f"{len(steps)} of {manifest['members']} members {text} ({first})")
    return ", ".join(counts)


def lines(run: str, manifest: dict[str, Any]) -> Iterator[str]:
    """The lines on such members in the log of a run."""
    every = members.of(manifest["spec"])
    endings = {
        "diverged": "diverged: what it logs is not finite from step {step} on",
        "untrained": "has reached its levels of train.stop at step {step}: it was not trained",
    }
    for key, text in endings.items():
        steps = manifest.get(key, {})
        for member, step in list(steps.items())[:MOST]:
            values = ", ".join(f"{path} {value}" for path, value in every[int(member)].items())
            yield f"run {run}: member {member} ({values}) {text.format(step=step)}"
        if len(steps) > MOST:
            yield f"run {run}: and so for {len(steps) - MOST} other members"
