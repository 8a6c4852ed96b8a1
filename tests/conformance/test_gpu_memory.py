"""What the facts of components say of a run's memory against the tensors that a run makes."""

import pytest
from examples.runs import RUNS
from torch.utils._pytree import tree_leaves

from grokatlas.engine import members
from grokatlas.plan import gpu_runs
from tests.runs import begun

SMALL = 1000  # bytes: besides what is of a sample, a model may write a few numbers


@pytest.mark.parametrize("name", RUNS)
def test_facts_agree_with_the_tensors_of_a_run(name):
    spec = RUNS[name]
    run = begun(spec)
    said, made = gpu_runs.needs(spec), run.needs()
    assert said.members == made.members == len(members.of(spec))
    assert made.parameters <= said.parameters <= made.parameters + _bytes(run.constants)
    if "only" in spec["train"]:  # which part of the parameters moves is not known without a model
        assert 0 < made.kept < said.kept
    else:
        assert said.kept == pytest.approx(made.kept, abs=0.5)
    for one, other in ((said.batch, made.batch), (said.looks, made.looks), (said.data, made.data)):
        assert 1 / 4 <= (one + SMALL) / (other + SMALL) <= 4, (said, made)


def _bytes(tree):
    return sum(leaf.numel() * leaf.itemsize for leaf in tree_leaves(tree))
