"""Kinks of `two_timescales` on a synthetic table, as data."""

import itertools

import numpy as np
import pandas as pd

from grokatlas.papers.two_timescales import kinks


def network(decay, seed, step):
    """Two neurons with kinks at 0.25 and 0.75, of which weight decay takes the second."""
    neurons = ((2.0, -0.5, 1.0), (-1.0, 0.75, 0.0 if decay and step == 100 else 3.0))
    row = {"record": "history", "case": "fast", "step": step, "optimizer.lr": 0.1}
    row |= {"penalties.0.weight": decay, "seed": seed, "task.points.0": 0, "task.points.1": 1}
    for k, values in enumerate(neurons):
        for name, value in zip(("0.weight", "0.bias", "1.weight"), values, strict=True):
            row[f"parameters.layers.{name}.{k}"] = value
    return row


def test_kinks_are_counted_for_each_lambda_and_drawn_where_they_are():
    members = itertools.product((0.0, 0.005), range(4), (0, 10, 100))
    table = pd.DataFrame([network(*member) for member in members])
    figure, drawn = kinks.draw({"theory_two_layer_relu": table})
    number, decayed, free = figure.axes
    lines = {line.get_label(): line.get_xydata().tolist() for line in number.lines}
    assert lines == {"0": [[1, 2], [10, 2]], "0.01": [[1, 2], [10, 1]]}
    both = [[1, 0.25], [1, 0.75], [10, 0.25], [10, 0.75]]
    places = [axes.collections[0].get_offsets().tolist() for axes in (decayed, free)]
    assert places == [both[:3], both]
    sizes = free.collections[0].get_sizes() / kinks.AREA
    np.testing.assert_allclose(sizes, [0.4, 0.6, 0.4, 0.6])  # of changes of slope 2 and 3
    assert set(drawn["series"]) == {"kinks", "place"}
