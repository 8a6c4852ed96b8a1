"""The steps at which a run takes snapshots, from a list or from a schedule as `log` has it."""

from typing import Literal

from grokatlas.declare.models import Log
from grokatlas.engine.schedule import log_schedule
from grokatlas.errors import MistakeError

MOST = 10_000  # snapshots of a run


def steps(snapshots: list[int | Literal["initial", "final"]] | Log, last: int) -> list[int]:
    """The steps, in order, each once.

    Args:
        snapshots: of the block ``train``.
        last: the run's last step, which a schedule has too.

    Raises:
        MistakeError: a step comes after the last one, or there are too many.
    """
    if isinstance(snapshots, list):
        marks = {"initial": 0, "final": last}
        chosen = sorted({marks[s] if isinstance(s, str) else s for s in snapshots})
        if chosen and chosen[-1] > last:
            raise MistakeError(["snapshots"], f"{chosen[-1]} is beyond the last step {last}")
        return chosen
    schedule = log_schedule(snapshots.model_dump(exclude_none=True), last)
    chosen = [0]
    while chosen[-1] < last:
        chosen.append(schedule.next(chosen[-1] + 1))
        if len(chosen) > MOST:
            raise MistakeError(
                ["snapshots"], f"makes more than {MOST} snapshots; give a larger `every`"
            )
    return chosen
