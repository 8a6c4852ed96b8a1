"""A plane cut into the linear regions of a ReLU network: convex polygons, layer by layer."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

CHUNK = 4096  # polygons taken through a layer together
FLAT = 1e-12  # of the size of a neuron's values in the window: less is on its line


@dataclass(frozen=True)
class Plane:
    """``x = origin + u @ axes``: ``origin`` ``[D]``, orthonormal ``axes`` ``[2, D]``."""

    origin: np.ndarray
    axes: np.ndarray

    @classmethod
    def through(cls, points: np.ndarray) -> "Plane":
        """The plane of three points ``[3, D]``.

        Raises:
            ValueError: they lie on a line.
        """
        first, second = points[1:] - points[0]
        axes = np.stack([first, second - first * (first @ second) / (first @ first)])
        norms = np.linalg.norm(axes, axis=1, keepdims=True)
        if not norms[1] > 1e-9 * norms[0]:
            raise ValueError("linear_regions: the three points lie on a line")
        return cls(points.mean(axis=0), axes / norms)

    def coordinates(self, points: np.ndarray) -> np.ndarray:
        """Of the projections of points ``[N, D]`` on the plane, ``[N, 2]``."""
        return (points - self.origin) @ self.axes.T


@dataclass(frozen=True)
class Regions:
    """Convex polygons in a plane, each with the affine map that the network is there.

    Attributes:
        corners: ``[R, V, 2]``, counter-clockwise or clockwise, padded.
        counts: ``[R]``, how many corners count.
        maps: ``[R, C, 3]``: outputs at (u, v) are ``maps @ (u, v, 1)``.
        slope_norms: ``[R]``, Frobenius norms of the slopes ``[C, D]`` in the whole input space.
    """

    corners: np.ndarray
    counts: np.ndarray
    maps: np.ndarray
    slope_norms: np.ndarray

    def polygons(self) -> Iterator[np.ndarray]:
        """The corners ``[V, 2]`` of each region."""
        for corners, count in zip(self.corners, self.counts, strict=True):
            yield corners[:count]


def regions(network: list[tuple[np.ndarray, np.ndarray]], plane: Plane, half: float) -> Regions:
    """The linear regions of a ReLU network in a window of a plane.

    Args:
        network: weight and bias of each layer; ReLU between them.
        plane: the plane.
        half: half the side of the window, about the plane's origin.
    """
    square = half * np.array([[[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]])
    weight, bias = network[0]
    first = np.column_stack([weight @ plane.axes.T, weight @ plane.origin + bias])
    parts = list(_descend(network, square, np.array([4]), first[None], [], half))
    widest = max(part.corners.shape[1] for part in parts)
    return Regions(
        np.concatenate([_padded(part.corners, widest) for part in parts]),
        *(
            np.concatenate([getattr(p, k) for p in parts])
            for k in ("counts", "maps", "slope_norms")
        ),
    )


def _descend(
    network: list[tuple[np.ndarray, np.ndarray]],
    corners: np.ndarray,
    counts: np.ndarray,
    maps: np.ndarray,
    patterns: list[np.ndarray],
    half: float,
) -> Iterator[Regions]:
    """Cut polygons by the layer that `maps` ``[R, H, 3]`` are the values of, and those after it.

    Args:
        network: all layers.
        corners: of the polygons.
        counts: of the corners.
        maps: values of the next layer's neurons, before ReLU, in each polygon.
        patterns: which neurons of each layer before are active in each polygon, ``[R, H]``.
        half: of the window, for tolerances.
    """
    depth = len(patterns)
    if depth == len(network) - 1:
        yield Regions(corners, counts, maps, _slope_norms(network, patterns, len(counts)))
        return
    corners, counts, parent = _cut(corners, counts, maps, half)
    weight, bias = network[depth + 1]
    for start in range(0, len(counts), CHUNK):
        part = slice(start, start + CHUNK)
        above = parent[part]
        active = _values(_centres(corners[part], counts[part])[:, None], maps[above])[:, 0] > 0
        after = weight @ (maps[above] * active[..., None])
        after[..., 2] += bias
        known = [*(pattern[above] for pattern in patterns), active]
        yield from _descend(network, corners[part], counts[part], after, known, half)


def _cut(
    corners: np.ndarray, counts: np.ndarray, maps: np.ndarray, half: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Polygons cut by all neurons of a layer: corners, counts, and the polygon each came from."""
    sizes = half * np.abs(maps[..., :2]).sum(-1) + np.abs(maps[..., 2])  # [R, H]
    valid = np.arange(corners.shape[1]) < counts[:, None]
    values = _values(corners, maps)
    highest = np.where(valid[..., None], values, -np.inf).max(1)
    lowest = np.where(valid[..., None], values, np.inf).min(1)
    crossing = (highest > FLAT * sizes) & (lowest < -FLAT * sizes)
    parent = np.arange(len(counts))
    for neuron in np.flatnonzero(crossing.any(0)):
        asked = np.flatnonzero(crossing[parent, neuron])
        lines, flat = maps[parent[asked], neuron], FLAT * sizes[parent[asked], neuron]
        values = _values(corners[asked], lines[:, None])[..., 0]
        valid = np.arange(corners.shape[1]) < counts[asked, None]
        above = (np.where(valid, values, -np.inf) > flat[:, None]).any(1)
        below = (np.where(valid, values, np.inf) < -flat[:, None]).any(1)
        cut = above & below
        places = asked[cut]
        if not len(places):
            continue
        one, other = _split(corners[places], counts[places], values[cut], flat[cut])
        width = max(corners.shape[1], one[0].shape[1])
        corners = np.concatenate([_padded(corners, width), _padded(other[0], width)])
        corners[places] = _padded(one[0], width)
        counts = np.concatenate([counts, other[1]])
        counts[places] = one[1]
        parent = np.concatenate([parent, parent[places]])
    return corners, counts, parent


def _split(
    corners: np.ndarray, counts: np.ndarray, values: np.ndarray, flat: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Each polygon's parts above and below the line on which `values` ``[R, V]`` vanish."""
    width, rows = corners.shape[1], np.arange(len(corners))[:, None]
    valid = np.arange(width) < counts[:, None]
    above = (values > flat[:, None]) & valid
    before = np.take_along_axis(above, (np.arange(width) - 1) % counts[:, None], 1)
    start = (above & ~before & valid).argmax(1)  # the first corner above, going round
    order = (start[:, None] + np.arange(width)) % counts[:, None]
    corners, values = corners[rows, order], values[rows, order]
    up = above.sum(1)
    leaving = _crossing(corners, values, up - 1, up)
    entering = _crossing(corners, values, np.zeros_like(up), counts - 1)
    wide = np.concatenate([corners, np.zeros((len(corners), 2, 2))], axis=1)
    first = wide.copy()
    first[rows[:, 0], up], first[rows[:, 0], up + 1] = leaving, entering
    shifted = np.minimum(up[:, None] + np.arange(width + 2), width + 1)
    second, down = wide[rows, shifted], counts - up
    second[rows[:, 0], down], second[rows[:, 0], down + 1] = entering, leaving
    widest = max(up.max(), down.max()) + 2
    return (first[:, :widest], up + 2), (second[:, :widest], down + 2)


def _crossing(
    corners: np.ndarray, values: np.ndarray, above: np.ndarray, below: np.ndarray
) -> np.ndarray:
    """The point where the edge between two corners of each polygon meets the line, ``[R, 2]``."""
    rows = np.arange(len(corners))
    high, low = values[rows, above], values[rows, below]
    share = np.clip(high / (high - low), 0, 1)[:, None]
    return corners[rows, above] + share * (corners[rows, below] - corners[rows, above])


def _slope_norms(
    network: list[tuple[np.ndarray, np.ndarray]], patterns: list[np.ndarray], count: int
) -> np.ndarray:
    """``||W_L D_(L-1) W_(L-1) ... D_1 W_1||_F`` of each region, ``[R]``."""
    slopes = np.broadcast_to(network[-1][0], (count, *network[-1][0].shape))
    for (weight, _), active in zip(network[-2:0:-1], patterns[:0:-1], strict=True):
        slopes = (slopes * active[:, None]) @ weight
    if patterns:
        slopes = slopes * patterns[0][:, None]
    gram = network[0][0] @ network[0][0].T if patterns else np.eye(network[0][0].shape[1])
    return np.sqrt(np.maximum(np.einsum("rch,rch->r", slopes @ gram, slopes), 0))


def _values(points: np.ndarray, maps: np.ndarray) -> np.ndarray:
    """Affine maps ``[R, H, 3]`` at points ``[R, V, 2]``: ``[R, V, H]``."""
    return points @ maps[..., :2].swapaxes(1, 2) + maps[:, None, :, 2]


def _centres(corners: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The mean of each polygon's corners, a point inside it, ``[R, 2]``."""
    valid = np.arange(corners.shape[1]) < counts[:, None]
    return np.where(valid[..., None], corners, 0).sum(1) / counts[:, None]


def _padded(corners: np.ndarray, width: int) -> np.ndarray:
    return np.pad(corners, ((0, 0), (0, width - corners.shape[1]), (0, 0)))
