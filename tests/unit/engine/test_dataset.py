import numpy as np
import pytest

from grokatlas.engine import dataset, members
from tests.runs import addition

TASK = addition(5, "tokens", train_fraction=0.5, split_seed="member")
ONE = {"name": "one_sample", "point": [1.0, 1.0], "target": 2.0, "test_points": 3, "test_seed": 0}


def _spec(task, **axes):
    return {"task": task, "ensemble": {**axes, "seed": [4, 2]}}


def test_equal_tasks_are_made_once():
    assert members.tasks(_spec(TASK | {"split_seed": 1})) == [TASK | {"split_seed": 1}]


def test_a_member_has_the_data_of_its_seed():
    tasks = members.tasks(_spec(TASK))
    assert [task["split_seed"] for task in tasks] == [4, 2]
    data = dataset.make(tasks)
    assert data.per_member
    assert data.input_shape == (2,)
    for member, task in enumerate(tasks):
        alone = dataset.make([task])
        for part in dataset.PARTS:
            assert np.array_equal(getattr(data, part)[member], getattr(alone, part))


def test_the_last_axis_runs_fastest():
    spec = _spec(ONE, **{"optimizer.lr": [0.1, 0.2]})
    found = [(member["optimizer.lr"], member["seed"]) for member in members.of(spec)]
    assert found == [(0.1, 4), (0.1, 2), (0.2, 4), (0.2, 2)]


def test_members_of_different_shape_are_refused():
    with pytest.raises(ValueError, match="differ in shape"):
        dataset.make([ONE, ONE | {"test_points": 4}])


@pytest.mark.parametrize("tasks", [[ONE], members.tasks(_spec(TASK))], ids=["shared", "members"])
def test_a_data_set_survives_a_file(tasks):
    data = dataset.make(tasks)
    again = dataset.from_arrays(*data.arrays())
    for part in dataset.PARTS:
        assert np.array_equal(getattr(data, part), getattr(again, part))
        assert getattr(data, part).dtype == getattr(again, part).dtype
    for field in ("outputs", "vocabulary", "per_member", "input_shape"):
        assert getattr(again, field) == getattr(data, field)


def test_extras_survive_a_file():
    data = dataset.make([ONE])
    held = dataset.Dataset(
        **{part: getattr(data, part) for part in dataset.PARTS},
        outputs=1,
        extras={"a": np.ones(2)},
    )
    assert dataset.from_arrays(*held.arrays()).extras["a"].tolist() == [1, 1]


def test_one_sample_is_solved_by_the_least_norm_weights():
    data = dataset.make([ONE | {"point": [1.0, 2.0], "target": 3.0}])
    solution = np.linalg.pinv(data.train_inputs) @ data.train_targets
    np.testing.assert_allclose(data.test_inputs @ solution, data.test_targets, rtol=1e-14)
    assert data.train_inputs @ solution == pytest.approx(data.train_targets)


def test_a_task_that_leaves_no_samples_is_refused():
    none = addition(3, "tokens", train_fraction=0.1)
    with pytest.raises(ValueError, match="modular_addition leaves no samples for train inputs"):
        dataset.make([none])
