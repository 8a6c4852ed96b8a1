"""The toys of `geometry` at paper scale, trained here: the paper's statements about them hold."""

import numpy as np
import pandas as pd
import pytest
import torch

from grokatlas.declare import cells
from grokatlas.engine import dataset, members, training
from grokatlas.rules import tidy_table
from tests.checkout import declared_papers

WEIGHTS = [f"parameters.weight.{k}" for k in range(3)]


@pytest.fixture(scope="module")
def trained():
    """Trains an experiment of `geometry` at paper scale; its table."""
    paper = declared_papers("geometry")["geometry"]

    def train(experiment: str) -> pd.DataFrame:
        parts = []
        for cell in cells.resolve("geometry", paper, experiment, "paper"):
            data = dataset.make(members.tasks(cell.spec))
            result = training.train(cell.spec, data, torch.device("cpu"))
            records = {"history": pd.DataFrame(result.history)}
            parts.append(tidy_table.cell_rows({"case": cell.case, "run": ""}, cell.spec, records))
        return pd.concat(parts, ignore_index=True)

    return train


def test_two_weights_come_to_rest_at_the_closed_form(trained):
    table = trained("two_weights")
    for decay, rows in table.groupby("penalties.0.weight"):
        end = rows.loc[rows["step"].idxmax()]
        np.testing.assert_allclose(end[WEIGHTS[:2]].astype(float), 2 / (2 + decay), atol=1e-3)
        assert rows.loc[rows["step"] == 20, "train_loss"].item() < 0.04
        late = rows.loc[rows["test_loss"] < 0.1, "step"].min()
        assert 30 < late < 1500
    arrival = table[table["test_loss"] < 0.1].groupby("penalties.0.weight")["step"].min()
    assert arrival.is_monotonic_decreasing


def test_three_weights_move_within_the_plane_towards_the_least_norm(trained):
    table = trained("three_weights")
    solution = np.ones(3) * 3 / 3.05
    for _, rows in table.groupby("member"):
        path = rows.sort_values("step")[WEIGHTS].to_numpy()
        slow = path[100:1000:100]
        motion = np.diff(path, axis=0)[100:1000:100]
        wanted = np.ones(3) - slow
        wanted -= wanted.mean(axis=1, keepdims=True)
        across = motion - motion.mean(axis=1, keepdims=True)
        norms = np.linalg.norm(across, axis=1) * np.linalg.norm(wanted, axis=1)
        assert ((across * wanted).sum(axis=1) / norms).min() > 0.99
        whole = solution - slow
        norms = np.linalg.norm(motion, axis=1) * np.linalg.norm(whole, axis=1)
        assert ((motion * whole).sum(axis=1) / norms).min() > 0.99
        np.testing.assert_allclose(path[-1], solution, atol=1e-3)


def test_every_trajectory_ends_at_the_least_norm_of_its_zero_loss_set(trained):
    table = trained("zero_loss_sets")
    ends = table[table["step"] == table["step"].max()].set_index("case")
    curved = ends.loc["curved", [f"parameters.factors.{k}" for k in range(2)]].to_numpy(float)
    np.testing.assert_allclose(np.abs(curved), 1, atol=0.02)
    assert (np.sign(curved[:, 0]) == np.sign(curved[:, 1])).all()
    singular = ends.loc["singular", [f"parameters.factors.{k}" for k in range(2)]].to_numpy(float)
    np.testing.assert_allclose(singular, 0, atol=0.02)
    kinked = ends.loc["leaky_relu", WEIGHTS[:2]].to_numpy(float)
    np.testing.assert_allclose(kinked, 2 / 2.02, atol=1e-3)
