"""The block ``draw`` of a figure: what it shows, where no function of its own draws it."""

from typing import Annotated, Any, Literal

from pydantic import Field

from grokatlas.declare.model_base import Model

MODULE = "grokatlas.plots.curves"  # what draws such a figure
Scale = Literal["log", "linear"]


class Curves(Model):
    """Curves against steps: a panel for each quantity, a colour for each setting."""

    name: Literal["curves"] = Field(description="the one kind that there is")
    columns: Annotated[list[str], Field(min_length=1)] | None = Field(
        None,
        description="columns of the tables, `train_loss` and `test_loss` in one panel; absent: "
        "what is logged of training and test data, else whatever is logged",
    )
    cases: Annotated[list[str], Field(min_length=1)] | None = Field(
        None,
        description="the cases that it shows, in this order, of several experiments as "
        "`experiment/case`; absent: all",
    )
    x: Scale = Field("log", description="axis of the steps; `log` leaves out step 0")
    y: Scale | None = Field(
        None, description="axis of the columns; absent: log, linear for accuracies and signed ones"
    )


def asked(draw: Literal["curves"] | Curves | None) -> dict[str, Any]:
    """The block as its function is given it: among the numbers that a figure reads by name."""
    block = (
        draw.model_dump(exclude={"name"}, exclude_unset=True) if isinstance(draw, Curves) else {}
    )
    return {"draw": block} if block else {}


def left_out(draw: Literal["curves"] | Curves | None, there: list[str]) -> list[str]:
    """The cases, of those that there are, which a figure that names some does not show."""
    named = draw.cases if isinstance(draw, Curves) else None
    return [] if named is None else [case for case in dict.fromkeys(there) if case not in named]
