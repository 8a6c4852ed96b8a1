"""The rows of runs that share a cell are those of one run of all their members."""

import itertools

import pandas as pd
import pytest

from grokatlas.declare import run_shares
from grokatlas.engine import members
from grokatlas.rules import split_table, tidy_table
from tests.unit.rules.test_tidy_table import FRAME, SPEC

ENSEMBLE = {"optimizer.lr": [0.1, 0.2], "seed": [4, 0, 9]}
NAMES = ["history", "times", "rare"]


def records(spec):
    """Records whose numbers know the member's values alone; `rare` has rows of some members."""
    each = [10 * member["optimizer.lr"] + member["seed"] for member in members.of(spec)]
    known = [*enumerate(each)]
    steps = [(number, step, value + step) for step in (0, 3) for number, value in known]
    times = [(number, value if value > 2 else None) for number, value in known]
    rare = [(number, value) for number, value in known if value > 9]
    return {
        "history": pd.DataFrame(steps, columns=["member", "step", "train_loss"]),
        "times": pd.DataFrame(times, columns=["member", "t1"]).astype({"t1": "float64"}),
        "rare": pd.DataFrame(rare, columns=["member", "end"]).astype({"member": "int64"}),
    }


def table(*cells):
    """A table of cells: case, spec, and what is split."""
    rows, parts = [], []
    for case, spec, split in cells:
        for part in run_shares.parts(spec, split, {}):
            row = {"case": case, "run": part.label or "one"}
            row |= {"part": {"of": case, "members": part.members}} if part.label else {}
            rows.append(row)
            parts.append(tidy_table.cell_rows(row, part.spec, records(part.spec)))
    return tidy_table.join(split_table.joined(rows, [NAMES] * len(rows), parts), FRAME)


@pytest.mark.parametrize(
    "split",
    [{"seed": 1}, {"seed": 2}, {"optimizer.lr": 1}, {"seed": 2, "optimizer.lr": 1}],
    ids=str,
)
def test_a_split_table_is_that_of_one_run_but_for_the_names_of_runs(split):
    spec = SPEC | {"ensemble": ENSEMBLE}
    whole, found = table(("a", spec, {})), table(("a", spec, split))
    pd.testing.assert_frame_equal(found.drop(columns="run"), whole.drop(columns="run"))
    runs = [-(-len(values) // split.get(axis, len(values))) for axis, values in ENSEMBLE.items()]
    assert found["run"].nunique() == runs[0] * runs[1]


def test_cells_keep_their_order_and_their_own_members():
    other = SPEC | {"ensemble": {"optimizer.lr": [0.3], "seed": [1, 2]}}
    spec = SPEC | {"ensemble": ENSEMBLE}
    cells = [("a", spec), ("b", other), ("c", other), ("d", spec)]
    whole = table(*((case, each, {}) for case, each in cells))
    found = table(*((case, each, {"seed": 1} if case in "acd" else {}) for case, each in cells))
    pd.testing.assert_frame_equal(found.drop(columns="run"), whole.drop(columns="run"))
    assert [case for case, _ in itertools.groupby(found["case"])] == ["a", "b", "c", "d"]
    history = found[(found["record"] == "history") & (found["step"] == 0)]
    assert not history.duplicated(["case", "member"]).any()
