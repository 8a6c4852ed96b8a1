"""The start of every figure: matplotlib's own settings and fonts, whatever a user has set."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import font_manager

from grokatlas.plots import style

EPOCH = "946684800"  # 2000-01-01: a fixed date makes the same figure the same bytes
NOT_DRAWN = ("backend", "backend_fallback", "interactive", "toolbar")  # settings of windows


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """Draw with matplotlib's own settings, `style.RC` and the fonts that matplotlib ships.

    No ``matplotlibrc``, style or installed font of the user has a part in what is drawn. A number
    that cannot be computed is not drawn, without a warning.
    """
    os.environ["SOURCE_DATE_EPOCH"] = EPOCH
    own = {key: value for key, value in mpl.rcParamsDefault.items() if key not in NOT_DRAWN}
    settings: dict[Any, Any] = {**own, **style.RC}
    with mpl.rc_context(settings), _shipped_fonts(), np.errstate(all="ignore"):
        yield


@contextlib.contextmanager
def _shipped_fonts() -> Iterator[None]:
    """Let texts find the fonts inside matplotlib alone, not those of a user's cache of fonts."""
    manager = font_manager.fontManager
    known, manager.ttflist = manager.ttflist, []
    try:
        for file in sorted(Path(mpl.get_data_path(), "fonts", "ttf").glob("*.ttf")):
            manager.addfont(file)
        yield
    finally:
        manager.ttflist = known
