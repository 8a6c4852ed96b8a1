"""Reasons why a component cannot be mapped over members, in words of its author."""

import traceback
from collections.abc import Iterator
from pathlib import Path

from grokatlas import registry

STATE = (
    "a model has no state beside its parameters, as a step must not depend on which samples and "
    "members were seen before; take layer norm, or a fixed scale in place of batch norm"
)
# what torch's message holds -> what the component does, and what to write instead
REASONS = {
    "random operation": "draws random numbers; a model, an optimizer, a penalty, and a change of "
    "gradients or inputs may take them by `noise_shape` (docs/extending.md)",
    "in-place operation": f"changes a tensor in place, as batch norm does, and {STATE}",
    "Batch norm got": f"has the state of batch norm, and {STATE}",
    "control flow": "branches on a value, or makes a number of a tensor; write torch.where, "
    "and keep the tensor",
    ".item()": "makes a number of a tensor; keep the tensor",
    "dynamic shape": "makes a tensor whose shape depends on values, as a boolean mask does; "
    "write torch.where, which keeps the shape",
    "data pointer": "reads the values of a tensor, as .numpy() does; keep to operations of torch",
    "inplace arithmetic": "changes a tensor in place that all members share; make a new one",
}


def reason(error: RuntimeError) -> str | None:
    """The place of a component, its mistake, and the remedy; None if torch means another thing.

    Args:
        error: of torch, raised while a program of one member was mapped.
    """
    mistake = next((text for part, text in REASONS.items() if part in str(error)), None)
    if mistake is None:
        return None
    where = place(error)
    return f"{where}: {mistake}" if where else f"a component {mistake}"


def place(error: BaseException) -> str:
    """The file and line of the study, else of our components and papers, that an error is from.

    Returns:
        such as ``components/penalties/huber.py, line 12``; empty for an error from elsewhere.
    """
    frames = [frame for each in _chain(error) for frame in _frames(each)]
    for folder in filter(None, [registry.study(), registry.PACKAGE]):
        rooms = [folder.resolve() / room for room in registry.ROOMS]
        for frame in frames:
            file = Path(frame.filename).resolve()
            if any(file.is_relative_to(room) for room in rooms):
                return f"{registry.shown(Path(frame.filename))}, line {frame.lineno}"
    return ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and those that led to it, the first one first."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _chain(before)
    yield error


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The calls that an error ended, the last one first."""
    return traceback.extract_tb(error.__traceback__)[::-1]
