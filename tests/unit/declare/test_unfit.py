"""What is known to give a wrong result together is refused when it is declared."""

import pytest

from grokatlas import registry
from grokatlas.declare import models, signatures, unfit
from grokatlas.errors import UserError
from tests.unit.declare import test_cells

PLAIN = {"dynamics": {"name": "gradient_training"}, "loss": {"name": "mse"}, "ensemble": {}}
NETWORK = {"model": {"name": "fitted_mlp", "bias": False}}
RECOVERY = {"task": {"name": "sparse_recovery"}, "model": {"name": "linear", "init": 0.0}}
POINTS = {"task": {"name": "linear_recovery", "train_points": [4, 16]}}
DESCENT = {"dynamics": {"name": "linear_descent", "l2": 0.1, "data_scale": "sum"}}


def told(spec, *measures):
    reason = unfit.why_not(PLAIN | spec, [{"name": name} for name in measures])
    return reason and reason[1]


def keywords(block):
    if block == "train":
        return {*models.Train.model_fields}
    known = (signatures.signature(block, name).keywords for name in registry.names(block))
    return {"name"}.union(*known)


# Of each: settings, measures, and a part of the problem.
WRONG = [
    (
        {"model": {"name": "fitted_softplus_mlp"}, "dynamics": {"name": "joint_layers"}},
        (),
        'joint_layers is wrong with model.name "fitted_softplus_mlp"',
    ),
    (NETWORK | {"model": {"name": "mlp", "bias": "hidden"}}, ("first_layer_drift",), "hidden"),
    (
        NETWORK | {"ensemble": {"model.output_scale": [1.0, 0.5]}},
        ("first_layer_drift",),
        "model.output_scale 0.5",
    ),
    (NETWORK | DESCENT, ("first_layer_drift",), 'dynamics.name "linear_descent"'),
    (DESCENT, ("hypentropy_path",), 'dynamics.name "linear_descent"'),
    ({"train": {"only": ["u"]}}, ("hypentropy_path",), "train.only"),
    (DESCENT | {"model": {"name": "hadamard_product"}}, (), "one weight"),
    ({"loss": {"name": "sobolev"}}, ("kkt_residual",), "derivatives too"),
    (
        {"observables": [{"name": "accuracies"}], "task": {"name": "x", "targets": "binary"}},
        (),
        'accuracies is wrong with task.targets "binary" and loss.name "mse"',
    ),
    (DESCENT | RECOVERY | POINTS, ("descent_bounds",), "of that task"),
    ({"dynamics": {"name": "linear_descent", "l2": 0}}, ("descent_bounds",), "without l2"),
    *(
        (DESCENT | RECOVERY | {"ensemble": {path: [0.1, 0.2]}}, ("descent_bounds",), path)
        for path in ("model.init", "dynamics.rate", "dynamics.l1", "dynamics.l2")
    ),
    (
        {"optimizer": {"name": "switched_adam"}, "observables": [{"name": "adam_denominator"}]},
        (),
        'optimizer.name "switched_adam"',
    ),
    (POINTS | {"dynamics": {"name": "linear_descent", "data_scale": "mean"}}, (), "take a sum"),
    (POINTS | {"loss": {"name": "mse", "reduction": "mean"}}, (), "take a sum"),
]


@pytest.mark.parametrize(("spec", "measures", "problem"), WRONG)
def test_what_is_wrong_together_is_refused(spec, measures, problem):
    assert problem in (told(spec, *measures) or "")


def test_what_is_right_is_taken():
    assert told(NETWORK, "first_layer_drift", "hypentropy_path") is None
    assert told(NETWORK | {"ensemble": {"model.output_scale": [1.0]}}, "first_layer_drift") is None
    assert told(DESCENT | RECOVERY, "descent_bounds") is None
    one = {"task": {"name": "linear_recovery", "train_points": [16]}}
    assert told(one | {"loss": {"name": "mse", "reduction": "mean"}}) is None


@pytest.mark.parametrize("entry", unfit.UNFIT, ids=lambda each: each.components[0])
def test_each_entry_names_components_and_keywords_that_there_are(entry):
    there = {name for block in registry.FOLDERS for name in registry.names(block)}
    assert {*entry.components} <= there
    for path in (each.removeprefix("ensemble.") for each in entry.settings):
        block, _, key = path.partition(".")
        assert key in keywords(block), path


@pytest.mark.parametrize("entry", unfit.UNFIT, ids=lambda each: each.components[0])
def test_each_entry_refuses_one_of_the_wrong_cases(entry, monkeypatch):
    monkeypatch.setattr(unfit, "UNFIT", (entry,))
    assert any(told(spec, *measures) for spec, measures, _ in WRONG)


def test_an_experiment_is_refused_at_the_name_of_its_component():
    adam = test_cells.ADAM | {"name": "switched_adam"}
    wrong = {"optimizer": adam | {"switch": 5, "beta2_after": 0.9, "empty": False}}
    observed = {"observables": [{"name": "adam_denominator"}]}
    with pytest.raises(UserError, match=r"one\.observables\.0\.name: adam_denominator is wrong"):
        test_cells.resolve(wrong | observed)
