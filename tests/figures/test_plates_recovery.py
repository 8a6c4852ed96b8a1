"""Plate 4 on synthetic tables, as data."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from grokatlas.papers.plates import _recovery, recovery

SAMPLES = (10, 50, 90)
STARTS = (1e-6, 10.0)


def _rows(name: str, weight: float) -> list[dict]:
    """Two instances; a fitting norm recovers from 50 on, all norms shrink the large start."""
    regulariser, column = _recovery.WEIGHTS[name]
    rows = []
    for truth in _recovery.TRUTHS:
        for seed in range(2 * len(SAMPLES)):
            for start in STARTS:
                samples, instance = SAMPLES[seed % 3], seed // 3
                fits = weight and _recovery.DIAGONAL.get(truth) == regulariser and samples > 10
                t2 = 400.0 if fits and (samples == 90 or instance) else np.nan
                keys = {"run": f"{truth}{weight}", "member": f"{seed} {start}", "seed": seed}
                keys |= {"task.truth": truth, "model.init": start, column: weight}
                keys |= {"dynamics.rate": 0.5, "train.stop.test_error.below": 0.01}
                rows.append(keys | {"record": "recovery_times", "t1": 10.0, "t2": t2})
                theory = {"samples": samples, "instance": instance, "distance": start + 1}
                theory |= {"minimiser_error": 0.0 if fits else 1.0}
                rows.append(keys | {"record": "convex_recovery"} | theory)
                end = start / 20 if weight else start
                for step, error in ((0, 9e3), (10, start), (200, end)):
                    rows.append(keys | {"record": "history", "step": step, "test_error": error})
                if start == STARTS[0]:
                    rows[-1]["test_error"] = start
    return rows


@pytest.fixture
def tables() -> dict[str, pd.DataFrame]:
    names = dict.fromkeys(_recovery.WEIGHTS, (0.01,)) | {"recovery_l2": (0.0, 0.01)}
    return {
        name: pd.DataFrame([row for weight in weights for row in _rows(name, weight)])
        for name, weights in names.items()
    }


def _marks(axes):
    """Colour, area, N and time of each mark."""
    return [
        (to_hex(edge), float(area), *map(float, place))
        for drawn in axes.collections
        for edge, area, place in zip(
            drawn.get_edgecolors(), drawn.get_sizes(), drawn.get_offsets(), strict=True
        )
    ]


def test_areas_are_shares_and_colours_are_outcomes(tables):
    made, data = recovery.draw(tables)
    panels = np.reshape(made.axes[:16], (4, 4))
    sparse = _marks(panels[0, 0])
    colour = recovery.COLOURS["l1"].lower()
    recovered = {(x, area) for hue, area, x, y in sparse if hue == colour and y == pytest.approx(2)}
    assert recovered == {(50, recovery.AREA / 2), (90, recovery.AREA)}
    mirages = [(x, area) for hue, area, x, _ in sparse if hue == recovery.MIRAGE]
    assert sorted(mirages) == [(10, recovery.AREA), (50, recovery.AREA / 2)]
    assert {hue for hue, *_ in _marks(panels[2, 2])} == {recovery.MIRAGE}
    assert _marks(panels[1, 3]) == []
    seen = data[(data["outcome"] == "recovered") & (data["share"] > 0)]
    assert set(zip(seen["truth"], seen["regulariser"], strict=True)) == set(
        _recovery.DIAGONAL.items()
    )


def test_the_diagonal_is_framed_and_where_nothing_happens_is_a_cross(tables):
    made, _ = recovery.draw(tables)
    panels = np.reshape(made.axes[:16], (4, 4))
    framed = [[axes.spines["top"].get_linewidth() > 1 for axes in row] for row in panels]
    assert np.argwhere(framed).tolist() == [[0, 0], [1, 1]]
    lost = {
        line.get_marker(): list(line.get_xdata())
        for line in panels[3, 2].lines
        if line.get_marker() in recovery.LOST
    }
    assert lost == {"x": list(SAMPLES), "+": []}


def test_dotted_lines_are_the_distance_from_either_start(tables):
    made, _ = recovery.draw(tables)
    panels = np.reshape(made.axes[:16], (4, 4))
    for axes, starts in ((panels[0, 1], STARTS), (panels[0, 2], ())):
        dotted = [
            line for line in axes.lines if line.get_linestyle() == ":" and len(line.get_xdata())
        ]
        assert [set(line.get_ydata()) for line in dotted] == [{start + 1} for start in starts]


def test_a_distance_of_rounding_alone_does_not_stretch_the_panels(tables):
    before = recovery.draw(tables)[0].axes[0].get_ylim()
    for table in tables.values():
        table.loc[table["samples"] == 90, "distance"] = 1e-15
    assert recovery.draw(tables)[0].axes[0].get_ylim() == before
