"""The linear regions of a ReLU network in planes through three training points."""

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import torch

from grokatlas.components.measures._regions import Plane, regions
from grokatlas.engine.accuracy import accuracy
from grokatlas.engine.contracts import FinishedRun, Measure
from grokatlas.engine.keyword_types import Count, Positive, Unit, Whole
from grokatlas.engine.rebuilt import RebuiltMember, restored

NEEDS = ["snapshots"]


PIXELS = 2048  # of an image, taken through the network together
POINTS = ("input", "centroid")

Items = tuple[Iterable[np.ndarray], np.ndarray, np.ndarray | None]  # polygons, sizes, entries


def build(
    *,
    points: list[Whole],
    reach: Positive,
    train_accuracy: Unit,
    test_accuracy: Unit,
    followed: Count,
    pixels: Count | None,
) -> Measure[FinishedRun]:
    """Linear regions, their slopes and centroids, as in arXiv 2506.12284, figures 1 and 11.

    A plane's coordinates are orthonormal, its origin the mean of the three points, its first axis
    from the first to the second. The window is a square about the origin. Convex polygons are cut
    by the line of each neuron, layer by layer; no grid is involved but with `pixels`.

    Args:
        points: places of training points, three for each plane, all three different.
        reach: half the side of the window, in units of the largest distance of a point from the
            mean of the three.
        train_accuracy: ``memorisation`` is the first snapshot with at least this train accuracy.
        test_accuracy: ``generalisation`` is the first snapshot with at least this test accuracy.
            The third moment, ``end``, is the last snapshot.
        followed: how many planes, from the first, have their regions in all three moments; the
            others have them at the end alone, and points and centroids before.
        pixels: a large network has some 100,000 regions in a window. A number gives an image of so
            many pixels a side instead, with the slope's norm at the middle of each.

    Returns:
        a function of a finished run whose model is ``mlp``, giving for each member, ``moment``
        reached, with its ``step``, and ``plane`` one row for each ``item`` with its ``place``:
        ``region``s, with their corners in ``polygon`` (JSON text, ``[[x, y], ...]`` in order around
        it) and ``slope_norm``, the Frobenius norm of the slope ``df/dx`` ``[C, D]`` there; or, in
        an image, its ``line``s from the lowest, with their pixels' norms to three digits in
        ``entries`` (JSON text) and the line's corners in ``polygon``; the three ``input``s and
        ``centroid``s (projected on the plane, ``J^T 1`` at each input), with their one point in
        ``polygon``, the entries ``[D]`` in ``entries`` (JSON text), and for centroids their own
        norm in ``slope_norm``.

    Raises:
        ValueError: `points` does not have three different places for each plane; when measured:
            the model is not ``mlp``, there are not so many points, or they lie on a line.
    """
    planes = [points[start : start + 3] for start in range(0, len(points), 3)]
    if not planes or any(len(set(plane)) != 3 for plane in planes):
        raise ValueError("linear_regions.points must be three different places for each plane")

    def measure(run: FinishedRun) -> pd.DataFrame:
        if run.spec["model"]["name"] != "mlp":
            raise ValueError("linear_regions needs the model mlp")
        levels = {
            "memorisation": ("train", train_accuracy),
            "generalisation": ("test", test_accuracy),
        }
        frames: list[pd.DataFrame] = []
        reached: set[tuple[int, str]] = set()
        last = max(run.snapshots)
        for one in restored(run):
            moments = [
                moment
                for moment, (part, level) in levels.items()
                if (one.member, moment) not in reached and _accuracy(one, part) >= level
            ]
            reached.update((one.member, moment) for moment in moments)
            if one.step == last and not np.isnan(_accuracy(one, "train")):
                moments.append("end")
            for place, plane in enumerate(planes if moments else []):
                names = {"member": one.member, "step": one.step, "plane": place}
                whole = [moment for moment in moments if place < followed or moment == "end"]
                panel = _panel(one, plane, reach, pixels, bool(whole)).assign(**names)
                points_alone = panel[panel["item"].isin(POINTS)]
                frames += [
                    (panel if moment in whole else points_alone).assign(moment=moment)
                    for moment in moments
                ]
        if not frames:
            raise ValueError("linear_regions: no snapshot has an accuracy: every member diverged")
        return pd.concat(frames, ignore_index=True)

    return measure


def _accuracy(one: RebuiltMember, part: str) -> float:
    with torch.no_grad():
        outputs = one.outputs(one.data[f"{part}_inputs"])
    return float(accuracy(outputs, one.data[f"{part}_targets"]))


def _panel(
    one: RebuiltMember, points: list[int], reach: float, pixels: int | None, whole: bool
) -> pd.DataFrame:
    """The rows of a plane at a step: those of points and centroids alone unless it is `whole`."""
    inputs = one.data["train_inputs"]
    if max(points) >= len(inputs):
        raise ValueError(f"linear_regions.points must be less than the {len(inputs)} points")
    chosen = inputs[points]
    slopes = torch.func.grad(lambda x: one.outputs(x).sum())(chosen)
    corners, centroids = (t.double().flatten(1).numpy() for t in (chosen, slopes))
    plane = Plane.through(corners)
    seen = plane.coordinates(corners)
    half = float(reach * np.linalg.norm(seen, axis=1).max())
    norms = np.linalg.norm(centroids, axis=1)
    rows: dict[str, Items] = {
        "input": (seen[:, None], np.full(3, np.nan), corners),
        "centroid": (plane.coordinates(centroids)[:, None], norms, centroids),
    }
    if whole:
        window = _window(one, plane, half, pixels)
        rows = {"region" if pixels is None else "line": window} | rows
    frames = []
    for item, (polygons, sizes, entries) in rows.items():
        texts = [_text(polygon) for polygon in polygons]
        columns: dict[str, Any] = {"item": item, "place": range(len(texts)), "polygon": texts}
        columns["slope_norm"] = sizes
        digits = 3 if item == "line" else 9  # a colour tells no more
        columns["entries"] = (
            entries if entries is None else [_numbers(row, digits) for row in entries]
        )
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def _window(one: RebuiltMember, plane: Plane, half: float, pixels: int | None) -> Items:
    """Polygons, slope norms and entries of the regions, or of the lines of an image."""
    if pixels is None:
        inside = regions(layers(one), plane, half)
        return inside.polygons(), inside.slope_norms, None
    edges = np.linspace(-half, half, pixels + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    across, up = np.meshgrid(middles, middles)
    places = np.stack([across.ravel(), up.ravel()], axis=1)
    norms = np.concatenate([_slopes(one, plane, part) for part in _parts(places)])
    ends = itertools.pairwise(edges)
    lines = [np.array([[-half, a], [half, a], [half, b], [-half, b]]) for a, b in ends]
    return lines, np.full(pixels, np.nan), norms.reshape(pixels, pixels)


def _parts(places: np.ndarray) -> list[np.ndarray]:
    return np.array_split(places, -(-len(places) // PIXELS))


def _slopes(one: RebuiltMember, plane: Plane, places: np.ndarray) -> np.ndarray:
    """Frobenius norms of the slopes at points ``[N, 2]`` of a plane."""
    like = one.data["train_inputs"]
    inputs = torch.from_numpy(plane.origin + places @ plane.axes).to(like.dtype)
    inputs = inputs.reshape(-1, *like.shape[1:]).requires_grad_()
    outputs = one.outputs(inputs).sum(dim=0)
    squares = torch.zeros(len(inputs), dtype=torch.float64)
    for output in outputs:
        (slope,) = torch.autograd.grad(output, inputs, retain_graph=True)
        squares += slope.double().flatten(1).square().sum(dim=1)
    return squares.sqrt().numpy()


def _text(polygon: np.ndarray) -> str:
    return "[" + ",".join(_numbers(corner) for corner in polygon) + "]"


def _numbers(values: np.ndarray, digits: int = 9) -> str:
    return "[" + ",".join(f"{value:.{digits}g}" for value in values) + "]"


def layers(one: RebuiltMember) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weight ``[out, in]`` and bias ``[out]`` of each layer of an MLP; the last one scaled."""
    pairs = []
    for place in range(sum(name.endswith("weight") for name in one.params)):
        weight = one.params[f"layers.{place}.weight"].double().numpy()
        bias = one.params.get(f"layers.{place}.bias")
        pairs.append((weight, np.zeros(len(weight)) if bias is None else bias.double().numpy()))
    scale = one.network.constants["output_scale"].double().numpy()
    return [*pairs[:-1], (scale * pairs[-1][0], scale * pairs[-1][1])]
