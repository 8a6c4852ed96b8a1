"""Linear regions: they tile the window, and the network is affine in each as they say."""

import json
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib.path import Path

from grokatlas.components.measures import _regions, linear_regions
from grokatlas.components.measures._regions import Plane, regions
from tests.runs import addition, finished, mlp, schedule

HALF = 2.5


def _network(sizes, bias=True, seed=0):
    random = np.random.default_rng(seed)
    return [
        (random.standard_normal((after, before)), bias * random.standard_normal(after))
        for before, after in pairwise(sizes)
    ]


def _forward(network, inputs):
    """Outputs, and which hidden neurons are active ``[N, all]``."""
    patterns = []
    for place, (weight, bias) in enumerate(network):
        inputs = inputs @ weight.T + bias
        if place < len(network) - 1:
            patterns.append(inputs > 0)
            inputs = np.maximum(inputs, 0)
    return inputs, np.concatenate(patterns, axis=1)


def _area(polygon):
    x, y = polygon.T
    return (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2


def _inside(polygon, point):
    """Whether a point is in a convex polygon, either way round."""
    edges, to = np.roll(polygon, -1, axis=0) - polygon, point - polygon
    sides = edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0]
    return (sides >= -1e-9).all() or (sides <= 1e-9).all()


SIZES = [(3, 1, 2), (6, 9, 3), (6, 8, 7, 3), (10, 12, 10, 9, 4)]


@pytest.fixture(params=SIZES, ids=str)
def case(request):
    network = _network(request.param)
    plane = Plane.through(np.random.default_rng(1).standard_normal((3, request.param[0])))
    return network, plane, regions(network, plane, HALF)


def test_regions_tile_the_window(case):
    areas = [_area(polygon) for polygon in case[2].polygons()]
    assert min(areas) > 0  # all go the same way round
    assert sum(areas) == pytest.approx((2 * HALF) ** 2, rel=1e-12)
    assert max(np.abs(polygon).max() for polygon in case[2].polygons()) <= HALF * (1 + 1e-12)


def test_each_region_has_one_pattern_and_its_own(case):
    network, plane, found = case
    seen = set()
    for polygon in found.polygons():
        centre = polygon.mean(0)
        near = centre + 0.999 * (polygon - centre)  # just inside the corners
        points = plane.origin + np.concatenate([centre[None], near]) @ plane.axes
        patterns = _forward(network, points)[1]
        assert (patterns == patterns[0]).all()
        seen.add(patterns[0].tobytes())
    assert len(seen) == len(found.counts)


def test_the_network_is_the_affine_map_of_the_region_a_point_lies_in(case):
    network, plane, found = case
    polygons = list(found.polygons())
    for point in np.random.default_rng(2).uniform(-HALF, HALF, (50, 2)):
        outputs = _forward(network, plane.origin + point[None] @ plane.axes)[0][0]
        (place,) = [k for k, polygon in enumerate(polygons) if _inside(polygon, point)]
        np.testing.assert_allclose(found.maps[place] @ [*point, 1], outputs, rtol=1e-9, atol=1e-9)


def test_slope_norms_are_those_of_the_jacobian(case):
    network, plane, found = case
    tensors = [(torch.from_numpy(w), torch.from_numpy(b)) for w, b in network]

    def forward(x):
        for place, (weight, bias) in enumerate(tensors):
            x = weight @ x + bias
            x = torch.relu(x) if place < len(tensors) - 1 else x
        return x

    for polygon, norm in zip(found.polygons(), found.slope_norms, strict=True):
        point = torch.from_numpy(plane.origin + polygon.mean(0) @ plane.axes)
        jacobian = torch.func.jacrev(forward)(point)
        assert norm == pytest.approx(float(jacobian.norm()), rel=1e-9, abs=1e-12)


def test_one_neuron_cuts_the_window_in_two():
    network = [(np.array([[1.0, 0.0]]), np.array([-0.5])), (np.array([[2.0]]), np.zeros(1))]
    found = regions(network, Plane(np.zeros(2), np.eye(2)), 1.0)
    areas = dict(zip(found.slope_norms, map(_area, found.polygons()), strict=True))
    assert areas == pytest.approx({2.0: 1.0, 0.0: 3.0})


def test_a_line_through_corners_leaves_no_slivers():
    network = [(np.array([[1.0, 1.0], [1.0, -1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    found = regions(network, Plane(np.zeros(2), np.eye(2)), 1.0)
    assert [_area(p) for p in found.polygons()] == pytest.approx([1, 1, 1, 1])


def test_chunks_change_nothing(monkeypatch):
    network = _network((6, 8, 7, 3))
    plane = Plane.through(np.random.default_rng(1).standard_normal((3, 6)))
    whole = regions(network, plane, HALF)
    monkeypatch.setattr(_regions, "CHUNK", 3)
    chunked = regions(network, plane, HALF)
    assert sorted(chunked.slope_norms) == pytest.approx(sorted(whole.slope_norms))


def test_points_on_a_line_are_refused():
    with pytest.raises(ValueError, match="on a line"):
        Plane.through(np.array([[0.0, 0, 0], [1, 1, 1], [2, 2, 2]]))


SPEC = {
    "task": addition(),
    "model": mlp(12, 2, output_scale=2.0),
    "loss": {"name": "cross_entropy"},
    "optimizer": {"name": "adam", "lr": 0.03, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "accuracies"}],
    "ensemble": {"seed": [0, 1]},
    "train": schedule(60, every=20, snapshots=[0, 20, 40, 60]),
}


@pytest.fixture(scope="module")
def run():
    return finished(SPEC)


def _measure(run, **changes):
    keywords = {"points": [3, 0, 7], "reach": 1.5, "train_accuracy": 0.99, "test_accuracy": 0.0}
    keywords |= {"followed": 1, "pixels": None}
    return linear_regions.build(**keywords | changes)(run)


def test_moments_are_the_first_snapshots_at_the_levels(run):
    found = _measure(run)
    history = run.history
    for member in (0, 1):
        reached = (history["member"] == member) & (history["train_accuracy"] >= 0.99)
        rows = found[found["member"] == member]
        steps = rows.groupby("moment")["step"].unique().to_dict()
        memorised = history["step"][reached].min()
        assert steps == {"generalisation": [0], "memorisation": [memorised], "end": [60]}


def test_items_are_regions_inputs_and_centroids(run):
    found = _measure(run)
    one = found[(found["member"] == 1) & (found["moment"] == "memorisation")]
    points = run.data.train_inputs[[3, 0, 7]].reshape(3, -1)
    plane = Plane.through(points)
    inputs = [json.loads(text)[0] for text in one.loc[one["item"] == "input", "polygon"]]
    np.testing.assert_allclose(inputs, plane.coordinates(points), atol=1e-8)
    half = 1.5 * np.linalg.norm(inputs, axis=1).max()
    regions_ = one[one["item"] == "region"]
    areas = [_area(np.array(json.loads(text))) for text in regions_["polygon"]]
    assert sum(areas) == pytest.approx((2 * half) ** 2, rel=1e-6)
    step = one["step"].iloc[0]
    params = {key: torch.tensor(value[1]) for key, value in run.snapshots[step].items()}

    def outputs(x):
        for place in range(3):
            x = x @ params[f"layers.{place}.weight"].T + params[f"layers.{place}.bias"]
            x = torch.relu(x) if place < 2 else 2 * x
        return x

    for row in regions_.iloc[::7].itertuples():
        centre = plane.origin + np.mean(json.loads(row.polygon), axis=0) @ plane.axes
        slope = torch.func.jacrev(outputs)(torch.from_numpy(centre))
        assert row.slope_norm == pytest.approx(float(slope.norm()), rel=1e-9)
    total = torch.func.grad(lambda x: outputs(x).sum())
    centroids = total(torch.from_numpy(points)).numpy()
    rows = one[one["item"] == "centroid"]
    seen = [json.loads(text)[0] for text in rows["polygon"]]
    np.testing.assert_allclose(seen, plane.coordinates(centroids), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(rows["slope_norm"], np.linalg.norm(centroids, axis=1))


def test_the_end_has_regions_whatever_was_reached(run):
    only = SimpleNamespace(**vars(run) | {"snapshots": {0: run.snapshots[0]}})
    found = _measure(only, train_accuracy=1.0, test_accuracy=1.0)
    assert set(found["moment"]) == {"end"}
    assert set(found["step"]) == {0}


def test_moments_at_one_snapshot_have_the_same_regions(run):
    found = _measure(run, train_accuracy=0.0, test_accuracy=0.0)
    parts = dict(iter(found.groupby("moment")))
    early = [parts[each].drop(columns="moment") for each in ("memorisation", "generalisation")]
    pd.testing.assert_frame_equal(*(each.reset_index(drop=True) for each in early))
    assert set(parts["end"]["step"]) == {60}


@pytest.mark.parametrize("points", [[], [0, 1], [0, 1, 1], [0, 1, 2, 3], [0, 1, 99]])
def test_three_training_points_are_needed(run, points):
    with pytest.raises(ValueError, match=r"linear_regions\.points"):
        _measure(run, points=points)


def test_each_plane_is_as_if_measured_alone(run):
    both = _measure(run, points=[3, 0, 7, 5, 2, 1], followed=2)
    for plane, points in enumerate(([3, 0, 7], [5, 2, 1])):
        alone = _measure(run, points=points)
        seen = both[both["plane"] == plane].drop(columns="plane").reset_index(drop=True)
        pd.testing.assert_frame_equal(seen, alone.drop(columns="plane"))


def test_entries_are_those_of_inputs_and_centroids(run):
    rows = _measure(run, points=[3, 0, 7])
    inputs = [json.loads(text) for text in rows.loc[rows["item"] == "input", "entries"]][:3]
    np.testing.assert_allclose(inputs, run.data.train_inputs[[3, 0, 7]].reshape(3, -1), rtol=1e-6)
    centroids = rows[rows["item"] == "centroid"]
    norms = [np.linalg.norm(json.loads(text)) for text in centroids["entries"]]
    np.testing.assert_allclose(norms, centroids["slope_norm"], rtol=1e-6)
    assert rows.loc[rows["item"] == "region", "entries"].isna().all()


def test_planes_that_are_not_followed_have_regions_in_the_end_and_points_before(run):
    found = _measure(run, points=[3, 0, 7, 5, 2, 1], pixels=2)
    items = found.groupby(["plane", "moment"])["item"].unique().map(set).to_dict()
    moments, points = ("memorisation", "generalisation", "end"), {"input", "centroid"}
    assert all(items[0, moment] == points | {"line"} for moment in moments)
    assert [items[1, moment] - points for moment in moments] == [set(), set(), {"line"}]
    alone = _measure(run, points=[5, 2, 1], pixels=2)
    own = found[(found["plane"] == 1) & found["item"].isin(points)].drop(columns="plane")
    alone = alone[alone["item"].isin(points)].drop(columns="plane")
    pd.testing.assert_frame_equal(own.reset_index(drop=True), alone.reset_index(drop=True))


def test_an_image_has_the_norm_of_the_region_at_each_pixel(run):
    exact, seen = _measure(run), _measure(run, pixels=8)
    keys = ["member", "moment"]
    for (member, moment), rows in seen[seen["item"] == "line"].groupby(keys):
        lines = rows.sort_values("place")
        norms = np.array([json.loads(text) for text in lines["entries"]])
        assert norms.shape == (8, 8)
        corners = np.array([json.loads(text) for text in lines["polygon"]])
        middles = corners[:, :, 1].mean(axis=1)  # also of the pixels of a line: the window's square
        np.testing.assert_allclose(corners[:, 0, 0], middles[0] * 8 / 7, rtol=1e-6)
        regions_ = exact[(exact["member"] == member) & (exact["moment"] == moment)]
        regions_ = regions_[regions_["item"] == "region"]
        polygons = [Path(json.loads(text)) for text in regions_["polygon"]]
        for up, across in ((0, 0), (2, 5), (7, 1), (4, 4)):
            place = (middles[across], middles[up])
            inside = [polygon.contains_point(place) for polygon in polygons]
            norm = regions_.loc[inside, "slope_norm"].iloc[0]
            assert norms[up, across] == pytest.approx(norm, rel=6e-3)
    for item in ("input", "centroid"):
        one, other = (table[table["item"] == item] for table in (exact, seen))
        both = [part.astype({"entries": str}).reset_index(drop=True) for part in (one, other)]
        pd.testing.assert_frame_equal(*both)
