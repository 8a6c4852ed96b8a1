"""What a user has set for matplotlib, for the machine or in fonts has no part in a figure."""

import copy
import dataclasses
import os
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import font_manager
from matplotlib.font_manager import FontProperties, findfont

from grokatlas.plots import defaults
from tests import cases
from tests.checkout import ROOT, python
from tests.tiers import exhaustive

TEXTS = cases.texts(__file__)

DRAW = """
import sys, hashlib, tempfile, pathlib
sys.path.insert(0, sys.argv[1])
from grokatlas.rules import rendering; from grokatlas.results import layout
from tests.figures import pictures
for paper, figure in (("geometry", "fig2"), ("grokalign", "fig8")):
    given = pictures.tables(paper, figure)
    stem = pathlib.Path(tempfile.mkdtemp()) / figure
    files = layout.outputs("figure", stem)
    spec = {"paper": paper, "figure": figure, "scale": "quick", "published": {}}
    spec["digitised_points"] = []
    spec["module"] = f"grokatlas.papers.{paper}.{figure}"
    rendering.render(spec, given, files, "origin")
    print([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])
"""


def _drawn(folder: Path, **environment: str) -> str:
    """Digests of two figures that a process draws in a folder, and in an environment."""
    for name in ("home", "config"):
        (folder / name).mkdir(exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MPL", "LC_"))}
    kept |= {"HOME": str(folder / "home"), "MPLCONFIGDIR": str(folder / "config")}
    done = python("-c", DRAW, str(ROOT), cwd=folder, env=kept | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def usual(tmp_path_factory) -> str:
    """What is drawn where nobody has set anything."""
    return _drawn(tmp_path_factory.mktemp("usual"))


def test_settings_of_the_user_have_no_part_in_a_figure(usual, tmp_path):
    (tmp_path / "config" / "stylelib").mkdir(parents=True)
    (tmp_path / "config" / "matplotlibrc").write_text(TEXTS["hostile"], encoding="utf-8")
    style = tmp_path / "config" / "stylelib" / "default.mplstyle"
    style.write_text("lines.linewidth: 9\n", encoding="utf-8")
    assert _drawn(tmp_path) == usual


@exhaustive
def test_settings_of_the_folder_and_of_the_machine_have_no_part_in_a_figure(usual, tmp_path):
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nbackend: tkagg\n", encoding="utf-8")
    machine = {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo"}
    more = {"PYTHONHASHSEED": "7", "SOURCE_DATE_EPOCH": "1", "MPLBACKEND": "Qt4Agg"}
    assert _drawn(tmp_path, **machine, **more) == usual


@exhaustive
def test_an_installed_font_of_the_same_name_has_no_part_in_a_figure(usual, tmp_path):
    (tmp_path / "config").mkdir()
    cache = tmp_path / "config" / Path(_list_of_fonts()).name
    font_manager.json_dump(_with_another_font(), cache)
    assert _drawn(tmp_path) == usual


def test_texts_are_set_in_the_font_that_matplotlib_ships(monkeypatch):
    other = _with_another_font()
    monkeypatch.setattr(font_manager.fontManager, "ttflist", other.ttflist)
    shipped = Path(mpl.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")
    with defaults.drawing():
        assert Path(findfont(FontProperties(size=12.34))) == shipped  # a size not asked for yet
        assert mpl.rcParams["font.family"] == ["DejaVu Sans"]
    assert font_manager.fontManager.ttflist is other.ttflist


def _with_another_font() -> font_manager.FontManager:
    """A list of fonts in which another font has the name of the one that figures are set in."""
    made = copy.copy(font_manager.fontManager)
    serif = next(font for font in made.ttflist if font.name == "DejaVu Serif")
    path = str(Path(mpl.get_data_path(), "fonts", "ttf", "DejaVuSerif.ttf"))
    made.ttflist = [
        dataclasses.replace(serif, fname=path, name="DejaVu Sans", weight=400),
        *made.ttflist,
    ]
    return made


def _list_of_fonts() -> str:
    """The file in which matplotlib keeps its list of fonts."""
    return f"fontlist-v{font_manager.FontManager.__version__}.json"
