"""A watched run has the bytes of one that is not: what is noted may change nothing."""

import pytest
import torch
from examples.runs import RUNS

from grokatlas.engine import dataset, members, training, watching
from grokatlas.rules.noting import watched
from tests.tiers import every

CPU = torch.device("cpu")


@pytest.mark.parametrize("run", every(9, RUNS, first=4))
def test_a_watched_run_has_the_bytes_of_one_that_is_not(run):
    spec = RUNS[run] | {"train": RUNS[run]["train"] | {"steps": 12, "snapshots": [0, 5, 12]}}
    data = dataset.make(members.tasks(spec))
    watcher = watching.Watcher(watched(spec), 12, len(members.of(spec)))
    noted = watching.train(spec, data, CPU, watcher)
    plain = training.train(spec, data, CPU)
    for found, expected in ((noted.history, plain.history), (noted.snapshots, plain.snapshots)):
        assert found.keys() == expected.keys()
        assert all(found[key].tobytes() == array.tobytes() for key, array in expected.items())
