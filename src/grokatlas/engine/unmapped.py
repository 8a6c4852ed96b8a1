"""Why a component cannot be mapped over members, in words: torch speaks of its own internals."""

import traceback
from pathlib import Path

from grokatlas.registry import COMPONENTS

# what torch's message holds -> what the component does, and what to write instead
REASONS = {
    "random operation": "draws random numbers; only a penalty or a change of inputs may, and gets "
    "them by its methods `noise_shape` and `given` (docs/extending.md)",
    "control flow": "branches on a value, or makes a number of a tensor; write torch.where, "
    "and keep the tensor",
    ".item()": "makes a number of a tensor; keep the tensor",
    "dynamic shape": "makes a tensor whose shape depends on values, as a boolean mask does; "
    "write torch.where, which keeps the shape",
    "data pointer": "reads the values of a tensor, as .numpy() does; keep to operations of torch",
    "inplace arithmetic": "changes a tensor in place that all members share; make a new one",
}


def reason(error: RuntimeError) -> str | None:
    """What the component does, where, and what to write instead; None if torch means another thing.

    Args:
        error: of torch, raised while a program of one member was mapped.
    """
    told = next((text for part, text in REASONS.items() if part in str(error)), None)
    if told is None:
        return None
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(COMPONENTS)
    ]
    if not frames:
        return f"a component {told}"
    file = Path(frames[-1].filename).relative_to(COMPONENTS)
    return f"{file.as_posix()}, line {frames[-1].lineno}: {told}"
