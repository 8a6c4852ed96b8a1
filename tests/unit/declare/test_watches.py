"""The block ``watch``: what stops a run or a member has something to look at."""

import pytest

from grokatlas.declare import watches
from grokatlas.errors import MistakeError


@pytest.mark.parametrize(
    ("kind", "logged", "absent"),
    [
        ("nonfinite", ["norms"], "no loss, error, accuracy or parameter is logged"),
        ("spike", ["norms", "accuracies"], "no loss or error is logged"),
        ("stagnation", ["slow_time"], "nothing but times is logged"),
    ],
)
def test_a_sign_that_stops_looks_at_something(kind, logged, absent):
    keywords = {"norms": {"orders": ["l2"]}}
    observables = [{"name": name, **keywords.get(name, {})} for name in logged]
    for stop in ("member", "run"):
        with pytest.raises(MistakeError) as error:
            watches.checked({kind: {"stop": stop}}, observables)
        assert error.value.path == [kind]
        assert error.value.problem == f"{absent}; name `columns`, or log `losses`"
    assert watches.checked({}, observables)[kind]["columns"] == []
    with_losses = watches.checked({kind: {"stop": "run"}}, [*observables, {"name": "losses"}])
    assert "train_loss" in with_losses[kind]["columns"]


def test_a_sign_that_stops_may_look_at_columns_that_are_named():
    given = {"spike": {"stop": "run", "columns": ["l2_norm"]}}
    found = watches.checked(given, [{"name": "norms", "orders": ["l2"]}])
    assert found["spike"]["columns"] == ["l2_norm"]
