"""Whether two pictures look the same: by their pixels, not by their bytes.

A png of ours carries the digest and the commit that drew it, so its bytes change where what it
shows does not.
"""

import io
from dataclasses import dataclass
from typing import Any

from grokatlas.errors import UserError

MARK = (0.84, 0.12, 0.06)  # red: a pixel that differs
PALE = 0.25  # how much of the second picture is seen behind the marks


@dataclass(frozen=True)
class Difference:
    """How two pictures differ.

    Attributes:
        told: in words.
        marked: the second picture, pale, as png, with what differs in red; empty for two sizes.
    """

    told: str
    marked: bytes = b""


def difference(first: bytes, second: bytes, where: str) -> Difference | None:
    """How two png pictures differ; None if they look the same.

    Args:
        first: bytes of a png file.
        second: of another.
        where: what they show, for errors.

    Raises:
        UserError: one of them is no png file.
    """
    if first == second:
        return None
    import numpy as np

    a, b = (_read(each, where) for each in (first, second))
    if a.shape != b.shape:
        sizes = [f"{each.shape[1]} x {each.shape[0]}" for each in (a, b)]
        return Difference(f"the picture's size: {sizes[0]} -> {sizes[1]} pixels")
    differ = (a != b).any(axis=-1)
    if not differ.any():
        return None
    share = float(differ.mean())
    shown = f"{share:.1%}" if share >= 0.001 else f"{int(differ.sum()):,}"
    pale = np.repeat(1 - PALE * (1 - b[..., :3].mean(axis=-1, keepdims=True)), 3, axis=-1)
    pale[differ] = MARK
    return Difference(f"{shown} of the pixels differ", _png(pale))


def _read(data: bytes, where: str) -> Any:
    """A picture as RGBA, one array of height x width x 4 from 0 to 1."""
    import numpy as np
    from matplotlib import image

    try:
        found = image.imread(io.BytesIO(data), format="png")
    except Exception as error:  # each fault of a file has its own exception there
        raise UserError(where, f"its picture is no png file ({error})") from None
    if found.ndim == 2:
        found = np.repeat(found[..., None], 3, axis=-1)
    alpha = np.ones_like(found[..., :1])
    return found if found.shape[-1] == 4 else np.concatenate([found, alpha], axis=-1)


def _png(pixels: Any) -> bytes:
    from matplotlib import image

    file = io.BytesIO()
    image.imsave(file, pixels.clip(0, 1), format="png")
    return file.getvalue()
