"""Settings for which a component's result is wrong, although the component itself takes them.

A component sees its keywords and one member, and not always the blocks beside it. What is known to
be wrong together is refused here, before anything runs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grokatlas import registry
from grokatlas.errors import shown

Condition = Callable[[Any], bool]
Reason = tuple[list[str], str]


def one_of(*values: Any) -> Condition:
    """Tell if a setting is one of some values."""
    return lambda value: value in values


def other_than(*values: Any) -> Condition:
    """Tell if a setting is there and none of some values."""
    return lambda value: value not in values


def given(_value: Any) -> bool:
    """Tell that a setting is there, whatever it is."""
    return True


def several(value: Any) -> bool:
    """Tell if a setting is a list of more than one value."""
    return isinstance(value, list) and len(value) > 1


@dataclass(frozen=True)
class Unfit:
    """Settings that are wrong together.

    Attributes:
        components: for each of these.
        settings: dotted path -> condition; each holds for some member. ``ensemble.PATH`` is a path
            that members differ in.
        reason: why the result is wrong.
    """

    components: tuple[str, ...]
    settings: dict[str, Condition]
    reason: str


RELU = ("isolated_first_layer", "joint_layers", "ridge_first_layer", "first_layer_drift")
FACTORS = ("diagonal_linear", "hadamard_product", "matrix_factorisation")
VALUES_ALONE = ("relative_errors", "kkt_residual", "riemannian_flow", "implicit_flow")
DRIFT, PATH, BOUNDS = ("first_layer_drift",), ("hypentropy_path",), ("descent_bounds",)
PLAIN = "its formula is that of gradient_training of all parameters"
PADDED = "members with fewer samples are padded with zeros, which a mean counts; take a sum"
UNFIT = (
    Unfit(RELU, {"model.name": one_of("fitted_softplus_mlp")}, "its equation is that of ReLU"),
    Unfit(DRIFT, {"model.bias": one_of(True, "hidden")}, "its equation has no biases"),
    Unfit(DRIFT, {"model.output_scale": other_than(1.0)}, "its equation has a scale of 1"),
    Unfit(DRIFT, {"dynamics.name": other_than("gradient_training")}, PLAIN),
    Unfit(PATH, {"dynamics.name": other_than("gradient_training")}, PLAIN),
    Unfit(PATH, {"train.only": given}, PLAIN),
    Unfit(("linear_descent",), {"model.name": one_of(*FACTORS)}, "its equation has one weight"),
    Unfit(
        VALUES_ALONE,
        {"loss.name": one_of("sobolev")},
        "it compares outputs with values, and targets hold derivatives too",
    ),
    Unfit(
        ("accuracies",),
        {"task.targets": one_of("binary"), "loss.name": one_of("mse")},
        "an output above 0 counts as 1, and outputs are trained to be 0 or 1; take labels",
    ),
    Unfit(BOUNDS, {"task.name": other_than("sparse_recovery")}, "its errors are of that task"),
    Unfit(
        BOUNDS,
        {"dynamics.name": one_of("linear_descent"), "dynamics.l2": one_of(0)},
        "without l2 the start stays where no sample reaches",
    ),
    *(
        Unfit(BOUNDS, {f"ensemble.{path}": given}, "it reads one value for all members")
        for path in ("model.init", "dynamics.rate", "dynamics.l1", "dynamics.l2")
    ),
    Unfit(
        ("adam_denominator",),
        {"optimizer.name": one_of("switched_adam")},
        "it corrects the bias by one beta2, and here that changes",
    ),
    Unfit(
        ("linear_descent",),
        {"task.train_points": several, "dynamics.data_scale": one_of("mean")},
        PADDED,
    ),
    Unfit(
        ("linear_recovery",),
        {"task.train_points": several, "loss.reduction": one_of("mean", "sample_mean")},
        PADDED,
    ),
)


def why_not(spec: dict[str, Any], measures: list[dict[str, Any]]) -> Reason | None:
    """The first component whose result would be wrong with a spec, and why.

    Args:
        spec: of a run, by today's names.
        measures: of the run.

    Returns:
        the place of the component's name, and the problem; None if there is none.
    """
    for path, _, entry in registry.entries({**spec, "measures": measures}):
        place, name = [*path.split("."), "name"], entry["name"]
        for each in UNFIT:
            if name in each.components and all(_holds(spec, *one) for one in each.settings.items()):
                settings = " and ".join(_told(spec, *one) for one in each.settings.items())
                return place, f"{name} is wrong with {settings}: {each.reason}"
    return None


def _values(spec: dict[str, Any], path: str) -> list[Any]:
    """The values of a setting, those of all members where they differ; none where it is absent."""
    if path in spec["ensemble"]:
        return list(spec["ensemble"][path])
    block, _, key = path.partition(".")
    return [spec[block][key]] if key in (spec.get(block) or {}) else []


def _holds(spec: dict[str, Any], path: str, condition: Condition) -> bool:
    return any(condition(value) for value in _values(spec, path))


def _told(spec: dict[str, Any], path: str, condition: Condition) -> str:
    if path.startswith("ensemble."):
        return f"{path.removeprefix('ensemble.')} in ensemble"
    return f"{path} {shown(next(value for value in _values(spec, path) if condition(value)))}"
