"""The figures of `grokalign` on linear regions on synthetic tables, compared as data."""

import json

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba

from grokatlas.papers.grokalign import fig1

INPUTS = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, 1.0], [0.0, 0.0, 1.0, 3.0]])
NORMAL = np.array([2.0, 1.0, 2.0, 0.0])  # of the plane of the inputs
CENTROIDS = np.array([5 * INPUTS[0], -0.1 * INPUTS[1], NORMAL])
HALVES = ([[-3, -3], [0, -3], [0, 3], [-3, 3]], [[0, -3], [3, -3], [3, 3], [0, 3]])
SLOPES = {"memorisation": (10.0, 100.0), "generalisation": (1.0, 0.0), "end": (2.0, 3.0)}
STEPS = {"memorisation": 40, "generalisation": 400, "end": 600}


def coordinates(points: np.ndarray) -> np.ndarray:
    """Of their projections on the plane of the inputs, by Gram and Schmidt."""
    first, second = INPUTS[1] - INPUTS[0], INPUTS[2] - INPUTS[0]
    first = first / np.linalg.norm(first)
    second = second - (second @ first) * first
    second = second / np.linalg.norm(second)
    return (points - INPUTS.mean(axis=0)) @ np.stack([first, second]).T


def plane(number: int, moment: str, seed: int) -> pd.DataFrame:
    rows = [
        {"item": "region", "place": place, "polygon": json.dumps(corners), "slope_norm": slope}
        for place, (corners, slope) in enumerate(zip(HALVES, SLOPES[moment], strict=True))
    ]
    for item, points in (("input", INPUTS), ("centroid", CENTROIDS)):
        for place, (point, seen) in enumerate(zip(points, coordinates(points), strict=True)):
            row = {"item": item, "place": place, "polygon": json.dumps([seen.tolist()])}
            rows.append(row | {"slope_norm": np.nan, "entries": json.dumps(point.tolist())})
    described = {"plane": number, "moment": moment, "step": STEPS[moment], "seed": seed}
    return pd.DataFrame(rows).assign(record="linear_regions", **described)


@pytest.fixture
def table() -> pd.DataFrame:
    parts = [
        plane(number, moment, seed) for number in range(8) for moment in SLOPES for seed in (0, 1)
    ]
    accuracies = {"train_accuracy": [1.0, 1.0, 1.0], "test_accuracy": [0.25, 0.85, 0.9]}
    history = pd.DataFrame({"step": [40, 400, 600], **accuracies}).assign(record="history", seed=0)
    drawn = pd.concat([history, *parts], ignore_index=True).assign(case="squared_error")
    other = drawn.assign(case="cross_entropy", slope_norm=7e5, train_accuracy=0.0)
    other["entries"] = other["entries"].where(other["item"] != "centroid", "[0, 0, 0, 0]")
    both = pd.concat([other, drawn], ignore_index=True)
    return both.assign(**{"task.name": "mnist", "task.train_points": 1024})


def panel(figure, start):
    return next(a for a in figure.axes if a.get_title(loc="left").startswith(start))


def test_regions_of_all_moments_are_coloured_on_one_logarithmic_scale(table):
    figure, drawn = fig1.draw({"regions": table})
    bar = next(axes for axes in figure.axes if axes.get_ylabel() == "norm of the slope")
    assert bar.get_yscale() == "log"
    assert bar.get_ylim() == pytest.approx((1, 100))
    faces = {}
    for letter in "bc":
        axes = panel(figure, letter)
        (regions,) = (c for c in axes.collections if isinstance(c, PolyCollection))
        assert regions.get_rasterized()
        for path, corners in zip(regions.get_paths(), HALVES, strict=True):
            np.testing.assert_array_equal(path.vertices[:-1], corners)
        assert (axes.get_xlim(), axes.get_ylim()) == ((-3, 3), (-3, 3))
        faces[letter] = regions.get_facecolors()
    purple, green, yellow = (to_rgba(c) for c in ("#440154", "#21918c", "#fde725"))
    for face, colour in ((faces["b"][0], green), (faces["b"][1], yellow), (faces["c"][0], purple)):
        np.testing.assert_allclose(face, colour, atol=0.01)
    assert faces["c"][1][3] == 0  # no slope at all: no colour
    sizes = drawn[drawn["item"] == "region"]
    assert sizes["slope_norm"].tolist() == [10, 100, 1, 0, 2, 3]


def test_a_centroid_that_vanishes_has_no_point_and_no_cosine(table):
    chosen = (table["item"] == "centroid") & (table["place"] == 1)
    table.loc[chosen & (table["moment"] == "generalisation"), "entries"] = "[0, 0, 0, 0]"
    figure, drawn = fig1.draw({"regions": table})
    stars = drawn[(drawn["item"] == "centroid") & (drawn["moment"] == "generalisation")]
    assert stars["alignment"].isna().tolist() == [False, True, False]
    assert any(axes.get_xlabel() == "cosine\n-1.00 → none → -1.00" for axes in figure.axes)


def test_a_run_that_stopped_is_shown_at_its_last_step(table):
    table.loc[(table["record"] == "linear_regions") & (table["step"] == 600), "step"] = 5000
    figure, _ = fig1.draw({"regions": table})
    assert panel(figure, "d").get_title(loc="left").startswith("d  end\nstep 600\n")


def test_a_moment_that_never_came_is_said(table):
    table = table[table["moment"] != "generalisation"]
    figure, drawn = fig1.draw({"regions": table})
    assert [text.get_text() for text in panel(figure, "c").texts] == ["not reached"]
    assert set(drawn["moment"]) == {"memorisation", "end"}
    assert any(axes.get_xlabel() == "cosine\n1.00 → 1.00" for axes in figure.axes)


def test_regions_without_any_slope_have_a_scale_and_no_colour(table):
    table.loc[table["item"] == "region", "slope_norm"] = 0.0
    figure, _ = fig1.draw({"regions": table})
    figure.draw_without_rendering()
    (regions,) = [c for c in panel(figure, "c").collections if isinstance(c, PolyCollection)]
    assert not regions.get_facecolors()[:, 3].any()
