"""The difference of two pictures: of their pixels, not of their bytes.

A png of ours carries the digest and the commit that drew it, so its bytes change where what it
shows does not.
"""

import io
from typing import Any

from grokatlas.errors import UserError


def difference(first: bytes, second: bytes, where: str) -> str:
    """The difference of two png pictures in words; empty if they look the same.

    `where` names what they show, for the error if one is no png file.
    """
    if first == second:
        return ""
    a, b = (_read(each, where) for each in (first, second))
    if a.shape != b.shape:
        sizes = [f"{each.shape[1]} x {each.shape[0]}" for each in (a, b)]
        return f"the picture's size: {sizes[0]} -> {sizes[1]} pixels"
    differ = (a != b).any(axis=-1)
    if not differ.any():
        return ""
    share = float(differ.mean())
    shown = f"{share:.1%}" if share >= 0.001 else f"{int(differ.sum()):,}"
    return f"{shown} of the pixels differ"


def _read(data: bytes, where: str) -> Any:
    """A picture as RGBA, one array of height x width x 4 from 0 to 1."""
    import numpy as np
    from matplotlib import image

    try:
        pixels = image.imread(io.BytesIO(data), format="png")
    except Exception as error:  # each fault of a file has its own exception there
        raise UserError(where, f"its picture is no png file ({error})") from None
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[..., None], 3, axis=-1)
    alpha = np.ones_like(pixels[..., :1])
    return pixels if pixels.shape[-1] == 4 else np.concatenate([pixels, alpha], axis=-1)
