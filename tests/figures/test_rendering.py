"""Files of a figure: reproducible, and an error in one line where tables do not fit."""

import re
import sys
from types import SimpleNamespace

import pandas as pd
import pytest
from matplotlib.layout_engine import ConstrainedLayoutEngine

from grokatlas.errors import UserError
from grokatlas.plots import defaults, panels, style
from grokatlas.results import layout
from grokatlas.rules import rendering
from tests.tables import rows

SPEC = {"paper": "geometry", "figure": "fig2", "scale": "quick", "published": {}}
SPEC["digitised_points"] = []
SPEC["module"] = "grokatlas.papers.geometry.fig2"
PLACES = {f"parameters__weight__{k}": lambda row, k=k: row["member"] + row["step"] / 10 + k
          for k in range(3)}  # fmt: skip
TABLE = rows(member=[0, 1, 2, 3], step=[0, 1, 2, 3, 4], train_loss=1.0, test_loss=2.0, **PLACES)


def test_the_same_figure_twice_has_the_same_bytes(tmp_path):
    tables = {"three_weights": TABLE}
    for name in ("one", "two"):
        files = layout.outputs("figure", tmp_path / name)
        rendering.render(SPEC, tables, files, "d" * 64)
    for suffix in (".pdf", ".png", ".csv"):
        one, two = ((tmp_path / name).with_suffix(suffix).read_bytes() for name in ("one", "two"))
        assert one == two
        assert one


def test_the_last_digits_of_the_solver_change_no_byte(tmp_path, monkeypatch):
    solve = ConstrainedLayoutEngine.execute

    def solved_in_another_order(engine, figure):
        solve(engine, figure)
        for axes in figure.axes:
            axes._set_position(axes.get_position(original=True).translated(-1e-11, 1e-11))

    tables = {"three_weights": TABLE}
    rendering.render(SPEC, tables, layout.outputs("figure", tmp_path / "one"), "d")
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", solved_in_another_order)
    rendering.render(SPEC, tables, layout.outputs("figure", tmp_path / "two"), "d")
    for suffix in (".pdf", ".png"):
        one, two = ((tmp_path / name).with_suffix(suffix).read_bytes() for name in ("one", "two"))
        assert one == two


def test_the_digest_stands_in_pdf_and_png(tmp_path):
    files = layout.outputs("figure", tmp_path / "one")
    rendering.render(SPEC, {"three_weights": TABLE}, files, "d" * 64)
    assert b"d" * 64 in (tmp_path / "one.pdf").read_bytes()
    assert b"d" * 64 in (tmp_path / "one.png").read_bytes()


def test_a_table_that_lacks_a_column_is_one_line(tmp_path):
    table = pd.DataFrame({"record": ["history"], "member": [0], "step": [0]})
    with pytest.raises(UserError, match="geometry/fig2: cannot be drawn from its tables") as caught:
        rendering.render(
            SPEC, {"three_weights": table}, layout.outputs("figure", tmp_path / "x"), "d"
        )
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [TypeError("None / 2"), ZeroDivisionError("by zero")])
def test_numbers_that_cannot_be_reckoned_with_are_one_line_too(tmp_path, monkeypatch, error):
    def draw(tables):
        raise error

    monkeypatch.setattr("grokatlas.papers.geometry.fig2.draw", draw)
    with pytest.raises(UserError, match=f"drawn from its tables: {type(error).__name__} {error}$"):
        rendering.render(SPEC, {}, layout.outputs("figure", tmp_path / "x"), "d")


def test_a_figure_of_some_of_the_seeds_says_so(tmp_path, monkeypatch):
    notes = []
    finish = rendering.panels.finish
    monkeypatch.setattr(
        rendering.panels, "finish", lambda made, note: (notes.append(note), finish(made, note))
    )
    told = {"so_far": "3 of 10 seeds"}
    for name, spec in (("whole", SPEC), ("some", SPEC | told), ("again", SPEC)):
        files = layout.outputs("figure", tmp_path / name)
        rendering.render(spec, {"three_weights": TABLE}, files, "d")
    assert notes[1] == f"{notes[0]}  ·  3 of 10 seeds"
    whole, some = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("whole", "some"))
    pd.testing.assert_frame_equal(some, whole.assign(**told))
    for suffix in (".pdf", ".png", ".csv"):
        whole, some, again = (
            (tmp_path / name).with_suffix(suffix).read_bytes()
            for name in ("whole", "some", "again")
        )
        assert whole == again != some


@pytest.mark.parametrize("published_table", [{"so_far": "3 of 10 seeds"}], indirect=True)
def test_a_published_table_of_some_of_the_seeds_says_so(published_table):
    for suffix in (".md", ".tex"):
        assert "quick scale  ·  3 of 10 seeds\n" in published_table[suffix]
    assert published_table[".csv"].startswith("ratio,so_far\n2.0,3 of 10 seeds\n")


@pytest.fixture
def published_table(tmp_path, monkeypatch, request):
    """A table of a paper, written to files; of a spec that may say more."""
    gains = ["x2.0 ± 0.1 fewer", "50 %", "< 1 h | $2^{x~y}\\z$\nnext"]
    shown = pd.DataFrame({"method_name": ["A & B", "C", "D"], "gain": gains})
    data = pd.DataFrame({"ratio": [2.0, 0.5]})
    module = SimpleNamespace(tabulate=lambda tables, published: (shown.assign(**published), data))
    monkeypatch.setitem(sys.modules, "grokatlas.papers.some.table1", module)
    files = layout.outputs("figure", tmp_path / "table1")
    spec = {"paper": "some", "figure": "table1", "scale": "quick", "published": {"paper": "2.1"}}
    spec |= {"module": "grokatlas.papers.some.table1", "digitised_points": []}
    spec |= getattr(request, "param", {})
    rendering.render(spec, {}, files, "digest d; commit c; runs r")
    return {file.suffix: file.read_text(encoding="utf-8") for file in files}


def test_a_published_table_is_text_and_numbers(published_table):
    assert set(published_table) == {".md", ".tex", ".csv"}
    assert "| A & B" in published_table[".md"]
    assert published_table[".csv"] == "ratio\n2.0\n0.5\n"


def test_a_published_table_says_its_scale_and_origin(published_table):
    for suffix in (".md", ".tex"):
        assert "some/table1  ·  quick scale" in published_table[suffix]
        assert "digest d; commit c; runs r" in published_table[suffix]


def test_a_published_table_is_latex_that_sets(published_table):
    text = published_table[".tex"]
    assert r"method\_name & gain" in text
    assert r"A \& B & x2.0 $\pm$ 0.1 fewer" in text
    assert r"C & 50 \%" in text
    assert r"D & $<$ 1 h $|$ \$2\textasciicircum \{x\textasciitilde y\}" in text
    assert r"\textbackslash z\$" in text


def test_a_sign_that_ends_a_cell_does_not_break_a_row_of_markdown(published_table):
    *_, row = [line for line in published_table[".md"].splitlines() if line.startswith("|")]
    assert re.split(r"(?<!\\)\|", row)[1].strip() == "D"
    assert len(re.split(r"(?<!\\)\|", row)) == 5


SENTENCE = "not shown at this size: what needs the published one"


@pytest.mark.parametrize("changes", [{}, {"quick_note": SENTENCE}])
def test_a_figure_says_at_its_bottom_what_its_size_does_not_show(tmp_path, monkeypatch, changes):
    seen = []
    monkeypatch.setattr(panels, "finish", lambda made, text: seen.append(text))
    files = layout.outputs("figure", tmp_path / "one")
    rendering.render(SPEC | changes, {"three_weights": TABLE}, files, "d" * 64)
    start = "Grokking Atlas  geometry/fig2  ·  quick scale"
    assert seen == [start + (f"  ·  {SENTENCE}" if changes else "")]


@pytest.mark.parametrize("words", [1, 4])
def test_what_stands_at_the_bottom_fits_below_the_panels(words):
    with defaults.drawing():
        made, grid = style.figure(2, height=2.1)
        for axes in grid[0]:
            axes.set_xlabel("step")
        panels.finish(made, "  ·  ".join([SENTENCE] * words))
        made.draw_without_rendering()
        text = made.texts[-1].get_window_extent()
        assert text.x1 < made.bbox.x1
        assert text.y1 < min(axes.get_tightbbox().y0 for axes in made.axes)
    assert made.texts[-1].get_text().count("\n") == (words > 2)


@pytest.mark.parametrize(("number", "ncols", "rows"), [(5, 5, 1), (20, 20, 4), (20, 2, 10)])
def test_a_legend_stays_within_its_figure(number, ncols, rows):
    with defaults.drawing():
        made, grid = style.figure(1)
        for index in range(number):
            grid[0, 0].plot([], [], label=f"entry number {index}")
        key = panels.legend(made, loc="outside upper right", ncols=ncols)
        panels.finish(made, "words")
        made.draw_without_rendering()
        assert made.legends == [key]
        assert len(key.get_texts()) == number
        assert len({round(text.get_window_extent().y0) for text in key.get_texts()}) == rows
        assert made.bbox.x0 <= key.get_window_extent().x0
        assert key.get_window_extent().x1 <= made.bbox.x1
