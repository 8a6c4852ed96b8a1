"""Files of a figure: reproducible, and an error in one line where tables do not fit."""

import pandas as pd
import pytest

from grokatlas import rendering, store
from grokatlas.errors import UserError
from tests.figures.test_geometry import history

SPEC = {"paper": "geometry", "figure": "fig2", "scale": "quick"}


def test_the_same_figure_twice_has_the_same_bytes(tmp_path):
    tables = {"three_weights": history(4, 5, 3)}
    for name in ("one", "two"):
        files = store.outputs("figure", tmp_path / name)
        rendering.render(SPEC, tables, files, "d" * 64)
    for suffix in (".pdf", ".png", ".csv"):
        one, two = ((tmp_path / name).with_suffix(suffix).read_bytes() for name in ("one", "two"))
        assert one == two
        assert one


def test_the_digest_stands_in_pdf_and_png(tmp_path):
    files = store.outputs("figure", tmp_path / "one")
    rendering.render(SPEC, {"three_weights": history(4, 5, 3)}, files, "d" * 64)
    assert b"d" * 64 in (tmp_path / "one.pdf").read_bytes()
    assert b"d" * 64 in (tmp_path / "one.png").read_bytes()


def test_a_table_that_lacks_a_column_is_one_line(tmp_path):
    table = pd.DataFrame({"record": ["history"], "member": [0], "step": [0]})
    with pytest.raises(UserError, match="geometry/fig2: cannot be drawn from its tables") as caught:
        rendering.render(
            SPEC, {"three_weights": table}, store.outputs("figure", tmp_path / "x"), "d"
        )
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
