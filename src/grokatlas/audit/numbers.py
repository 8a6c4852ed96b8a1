"""The differences between the numbers in two files."""

from pathlib import Path
from typing import Any

import numpy as np

from grokatlas.errors import UserError

NUMERIC = (".parquet", ".csv", ".safetensors")


def compare(first: Path, second: Path) -> list[str]:
    """The differences of two parquet, csv or safetensors files, a line for each column or array."""
    return [f"{name}: {how}" for name, how in by_column(first, second).items()]


def by_column(first: Path, second: Path) -> dict[str, str]:
    """The difference of each column or array that differs, in words."""
    a, b = _columns(first), _columns(second)
    one_sided = {name: "only in the first" for name in a if name not in b}
    one_sided |= {name: "only in the second" for name in b if name not in a}
    differences = {name: _difference(a[name], b[name]) for name in a if name in b}
    return one_sided | {name: how for name, how in differences.items() if how}


def _columns(path: Path) -> dict[str, Any]:
    """Columns or arrays by name. No reader here unpickles."""
    try:
        if path.suffix == ".safetensors":
            from safetensors.numpy import load_file

            return dict(load_file(path))
        import pandas as pd

        reader = pd.read_csv if path.suffix == ".csv" else pd.read_parquet
        frame = reader(path)
    except Exception as error:  # each reader has its own exceptions for a damaged file
        raise UserError(str(path), f"is no {path.suffix[1:]} file ({error})") from None
    return {str(name): frame[name].to_numpy() for name in frame}


def _difference(a: Any, b: Any) -> str:
    """The difference of two arrays in words; empty if there is none."""
    if a.shape != b.shape:
        return f"shape {_shape(a)} -> {_shape(b)}"
    if not all(np.issubdtype(x.dtype, np.number) or x.dtype == bool for x in (a, b)):
        unequal = int(np.sum([_text(x) != _text(y) for x, y in zip(a.flat, b.flat, strict=True)]))
        return f"{unequal} of {a.size} values differ" if unequal else ""
    a, b = a.astype(np.complex128), b.astype(np.complex128)
    equal = (a == b) | (np.isnan(a) & np.isnan(b))
    if equal.all():
        return ""
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(a - b)[~equal]
        scale = np.maximum(np.abs(a), np.abs(b))[~equal]
        relative = gap / scale
    text = f"{gap.size} of {a.size} values differ"
    return f"{text}, at most by {_most(gap)} (relative {_most(relative)})"


def _most(values: Any) -> str:
    return f"{np.max(values):.3g}" if np.isfinite(values).all() else "not finite"


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)  # noqa: PLR0124 (NaN)


def _shape(array: Any) -> str:
    return " x ".join(map(str, array.shape)) or "scalar"
