"""A small good paper and its malformed versions: a change, and where and how the error says so."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

DECLARE = Path(__file__).parent / "declare"
FILES = {
    name: (DECLARE / "small_paper" / name).read_text(encoding="utf-8")
    for name in ("paper.yaml", "experiments.yaml", "claims.yaml")
}
GOOD_INTERPRETATION = (
    "about: a slow one, figures: [fig1], instead: {two: {cases: {descent: adaptive}}}"
)


def changed(old: str, new: str) -> dict[str, str]:
    """The good files with a change of the one place that it fits."""
    count = sum(text.count(old) for text in FILES.values())
    assert count == 1, f"the change must fit one place, not {count}: {old!r}"
    return {name: text.replace(old, new) for name, text in FILES.items()}


def with_interpretation(interpretation: str, named: str = "slow") -> dict[str, str]:
    """The good files with another interpretation, which the deviation names."""
    deviation = f"why: stable, interpretations: [{named}]}}"
    return changed(
        "why: stable}\n", f"{deviation}\ninterpretations:\n  slow: {{{interpretation}}}\n"
    )


def write_paper(folder: Path, files: dict[str, str] = FILES) -> None:
    """Write a paper's files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


class Bad(NamedTuple):
    """A malformed version of the good paper, and the place and a fragment of its error."""

    name: str
    files: dict[str, str]
    place: str
    fragment: str


def malformed() -> Iterator[Bad]:
    """Those of `declare/malformed.yaml`, and those that are too long to be written down."""
    listed = yaml.safe_load((DECLARE / "malformed.yaml").read_text(encoding="utf-8"))
    experiments = FILES["experiments.yaml"]
    rest = experiments[experiments.index("  sweep:") :]
    for place, mistakes in listed.pop("interpretations").items():
        for name, (interpretation, fragment, *named) in mistakes.items():
            files = with_interpretation(
                interpretation.replace("$GOOD", GOOD_INTERPRETATION), *named
            )
            yield Bad(name, files, f"paper.yaml: {place}", fragment)
    for file, places in listed.items():
        for place, mistakes in places.items():
            for name, (old, new, fragment) in mistakes.items():
                files = changed(old.replace("$REST", rest), new)
                yield Bad(name, files, f"{file}: {place}", fragment)
    huge = changed("steps: 5}", f"steps: {'9' * 5000}}}")
    yield Bad("huge", huge, "experiments.yaml: line 10: one.smoke.train.steps", "at most 92")
    deep = changed("lr: 0.1", f"lr: {'[' * 99}{']' * 99}")
    yield Bad("deep", deep, "experiments.yaml: line 5", "nested too deeply")
    many = [*range(1, 200)]
    large = changed(
        "{train.dtype: [float32, float64]}", f"{{train.steps: {many}, model.width: {many}}}"
    )
    yield Bad(
        "sweep too large", large, "experiments.yaml: two.sweep", "makes 39601 runs; at most 10000"
    )
