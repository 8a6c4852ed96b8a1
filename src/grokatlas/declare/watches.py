"""The block ``watch`` of an experiment: what its runs are searched for, and what that stops."""

import fnmatch
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from grokatlas.declare import signatures, watched_columns
from grokatlas.declare.checked_types import PositiveInt
from grokatlas.declare.validation import check_block
from grokatlas.errors import MistakeError, nearest, shown

_SPIKE, _STAGNATION = (watched_columns.NUMBERS[kind] for kind in ("spike", "stagnation"))
_NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
# by kind: what is not logged where there is nothing to watch
_NOTHING = {
    "nonfinite": "no loss, error, accuracy or parameter is logged",
    "spike": "no loss or error is logged",
    "stagnation": "nothing but times is logged",
}
_Columns = Annotated[list[str], Field(min_length=1)] | None


class _Rule(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Stopping(_Rule):
    stop: Literal["member", "run"] | None = Field(
        None,
        description="what stops: the member that shows it, or the whole run; absent: nothing, it "
        "is noted",
    )


class NonFinite(_Stopping):
    """A value that is infinite or not a number."""

    columns: _Columns = Field(
        None, description="absent: losses, errors, accuracies and parameters that are logged"
    )


class Spike(_Stopping):
    """A loss or an error that jumps up."""

    columns: _Columns = Field(
        None, description="absent: losses and errors on training data, else all that are logged"
    )
    factor: Annotated[float, Field(gt=1, allow_inf_nan=False)] = Field(
        _SPIKE["factor"],
        description="above so many times its highest value of the last `logs` logs",
    )
    logs: PositiveInt = Field(_SPIKE["logs"], description="how many logs that looks back")
    floor: _NonNegative = Field(
        _SPIKE["floor"], description="and above so many times its first value"
    )


class Stagnation(_Stopping):
    """Nothing moves any more."""

    columns: _Columns = Field(None, description="absent: all that is logged, but times")
    tolerance: _NonNegative = Field(
        _STAGNATION["tolerance"],
        description="no column has moved by more than so much of its value",
    )
    logs: PositiveInt = Field(_STAGNATION["logs"], description="for so many logs")
    share: Annotated[float, Field(ge=0, le=1)] = Field(
        _STAGNATION["share"], description="and for so much of the run's steps"
    )


class Watch(_Rule):
    """What a run is searched for at each log."""

    nonfinite: NonFinite = Field(
        NonFinite(), description="a value that is infinite or not a number"
    )
    spike: Spike = Field(Spike(), description="a loss or an error that jumps up")
    stagnation: Stagnation = Field(Stagnation(), description="nothing moves any more")


def checked(given: Any, observables: list[dict[str, Any]]) -> dict[str, Any]:
    """The block as a spec has it: every number, and the columns.

    Args:
        given: as the YAML has it.
        observables: of the spec.

    Raises:
        MistakeError: a key or a value is not allowed, a column is not logged, or what shall stop
            members has no column to look at.
    """
    watch: Watch = check_block(Watch, given)
    found: dict[str, Any] = watch.model_dump(exclude_none=True)
    declared, whole = signatures.logged(observables)
    for kind, columns in watched_columns.columns(observables).items():
        for place, column in enumerate(found[kind].get("columns", [])):
            ways = [way for name, way in declared.items() if fnmatch.fnmatchcase(column, name)]
            path = [kind, "columns", str(place)]
            if whole and not ways:
                hint = nearest(column, [*declared])
                raise MistakeError(path, f"no column {shown(column)} is logged; {hint}")
            if kind == "spike" and ways[:1] == ["rises"]:
                problem = f"{column} rises as a member learns; name what falls, such as a loss"
                raise MistakeError(path, problem)
        if not found[kind].setdefault("columns", columns) and "stop" in found[kind]:
            hint = "name `columns`, or log `losses`"
            raise MistakeError([kind], f"{_NOTHING[kind]}; {hint}")
    return found
