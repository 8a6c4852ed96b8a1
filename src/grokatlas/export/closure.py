"""The results of one scale and all that they depend on, read and checked from manifests alone.

What is handed on (`archive`, `crate`) goes through here. Names are paths with ``/`` that start
with ``results``, wherever the tree is.
"""

import functools
from pathlib import Path

from grokatlas import registry
from grokatlas.errors import UserError
from grokatlas.results import hashing, layout, links, records_only
from grokatlas.results.ancestry import ancestors
from grokatlas.results.layout import SCALES
from grokatlas.results.manifest import code_of
from grokatlas.results.result import DamagedError, Result
from grokatlas.results.result import load as load_result


def only_scale() -> str:
    """The scale at which there are results here, if it is one."""
    pattern = "**/*.manifest.json"
    scales = [scale for scale in SCALES if registry.own_files(layout.RESULTS / scale, pattern)]
    if len(scales) == 1:
        return scales[0]
    if not scales:
        raise UserError(
            str(layout.RESULTS), "holds no figure or table; run `snakemake` to make them"
        )
    raise UserError(
        "--scale", f"{layout.RESULTS} holds more than one; give one of {', '.join(scales)}"
    )


def collect(scale: str) -> list[Result]:
    """Every finished table and figure of a scale and all they were made from, upstream first.

    Raises:
        UserError: there is none, or one that does not fit its job file or what it was made from,
            or a link out of the tree.
    """
    lying = registry.own_files(layout.RESULTS / scale, "**/*")
    _refuse_links([file.as_posix() for file in lying if file.is_symlink()])
    names = sorted(file.as_posix() for file in lying if file.name.endswith(".manifest.json"))
    targets = [p[1] for p in map(layout.owner, names) if p]
    if not targets:
        problem = f"nothing was made at this scale; run `snakemake --config scale={scale}`"
        raise UserError(f"{layout.RESULTS}/{scale}", problem)
    return behind(targets)


def behind(targets: list[str]) -> list[Result]:
    """Some finished results and all they were made from, upstream first.

    Raises:
        UserError: one does not fit its job file or what it was made from, or is behind a link out
            of the tree.
    """
    results: dict[str, Result] = {}

    def inputs(target: str) -> list[str]:
        results[target] = load(Path(), target)
        _refuse_links([*results[target].records, *results[target].outputs])
        return results[target].upstream

    ancestors(targets, inputs)
    check(results)
    return sorted(
        results.values(), key=lambda result: (layout.HANDED_ON.index(result.kind), result.target)
    )


def _refuse_links(names: list[str]) -> None:
    """Refuse files that are behind a link out of the tree, as `verify` does."""
    for name in names:
        if link := links.refused_link(layout.RESULTS, name):
            place, reason = link
            raise UserError(place, f"{reason}; put the files themselves there")


def unfinished(scale: str) -> list[str]:
    """The tables and figures of a scale that have a job file but no manifest."""
    files = registry.own_files(layout.RESULTS / scale, "**/*.spec.json")
    targets = (layout.target_of(file) for file in files)
    missing = [t for t in targets if not layout.manifest_of("figure", t).exists()]
    names = [target.as_posix() for target in missing]
    return [name for name in names if layout.owner(f"{name}.manifest.json")]  # claims are none


def load(root: Path, target: str) -> Result:
    """The result at a target, by itself sound; an error for any other."""
    try:
        return load_result(layout.kind_of(Path(target)), Path(target), root)
    except DamagedError as error:
        problem = error.problem.removesuffix("; run `snakemake` to remake it")
        raise UserError(error.place, f"{problem}; run `snakemake`, or remove it") from None


def check(results: dict[str, Result]) -> dict[str, hashing.Digests]:
    """Check that every result was made from those that lie there, by their hashes and digests.

    Returns:
        by target the digests of each result of which all that it was made from lies there.
    """

    @functools.cache
    def digests(target: str) -> hashing.Digests:
        upstream = [digests(name) for name in results[target].planned["inputs"]]
        manifest = results[target].sound
        return hashing.of_job(manifest["kind"], manifest["spec"], code_of(manifest), upstream)

    known = {}
    for target, result in results.items():
        for name, recorded in result.sound["inputs"].items():
            owner = layout.owner(name)
            upstream = results.get(owner[1]) if owner else None
            if upstream is None:
                raise UserError(target, f"was made from {name}, which is not here")
            if upstream.outputs.get(name) != recorded:
                what = f"was made from another {name}"
                if records_only.was_made_from(Path(name), recorded):
                    problem = f"{what}, which its archive left out, so it cannot be handed on"
                    raise UserError(target, f"{problem}; remove it, or that, and run `snakemake`")
                raise UserError(target, f"{what}; run `snakemake`, or remove it")
        behind = ancestors(
            [target], lambda name: results[name].planned["inputs"] if name in results else []
        )
        if not results.keys() >= set(behind):
            continue
        known[target] = digests(target)
        if result.sound["digest"] not in known[target]:
            problem = "its digest is not that of its spec, code and inputs"
            raise UserError(target, f"{problem}; run `snakemake`, or remove it")
    return known
