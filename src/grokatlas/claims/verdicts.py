"""The verdict on a claim, from its values and the interval that is expected of them."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from grokatlas import text as words

REPRODUCED, PARTLY, MISSED = "reproduced", "partly", "not reproduced"
REJECTED = "interpretation rejected"  # of a setting that is run to test how the paper can be meant
AFTERWARDS = "set afterwards"  # of an interval, when numbers that it judges were known
NOT_DECISIVE = "not decisive"  # met by such a setting, or met by the claim's control as well
SEEN, NOT_SEEN = "seen at quick scale", "not seen at quick scale"
NOT_RUN = "not run at this scale"
MEANINGS = {
    REPRODUCED: "every seed's number, or their middle, is in the interval",
    PARTLY: "at least half of the numbers are in the interval, or all of them with seeds missing",
    MISSED: "most numbers are outside of the interval, and so is their middle where that is judged",
    REJECTED: "a setting that tests an interpretation misses the interval",
    NOT_DECISIVE: "a control, or a setting that tests an interpretation, meets the interval too, "
    "so that the claim is not counted",
    SEEN: "in the interval at smaller sizes than the published ones",
    NOT_SEEN: "outside of the interval at smaller sizes than the published ones",
    NOT_RUN: "no run of this scale has the number",
}
VERDICTS = tuple(MEANINGS)
CAUSES = {
    "refuted": "the runs contradict the statement",
    "choice": "the paper leaves a choice open, and ours may not be its authors'",
    "interval": "the numbers end near an interval that is this project's",
    "missing": "not all runs were made",
    "unexplained": "why is not known",
}


def judge(
    values: list[float], expected: list[float | None], judged: str, seeds: int
) -> tuple[str, str]:
    """The verdict on a claim's values, and the reason in a few words.

    Args:
        values: one for each seed; infinite where never reached, not a number where missing.
        expected: lowest and highest value, both included; None for no limit.
        judged: what has to be in the interval: ``each`` value, or their ``mean`` or ``median``.
            Where that is not so, at least half of the values have to be there for ``partly``.
        seeds: how many values a full verdict needs; with fewer, ``partly`` at best.
    """
    known = [value for value in values if not math.isnan(value)]
    if not known:
        if not values:
            return NOT_RUN, "the tables do not hold it"
        return NOT_RUN, "no seed has a number: not in the tables, or neither of two is reached"
    low = -math.inf if expected[0] is None else expected[0]
    high = math.inf if expected[1] is None else expected[1]
    hits = sum(low <= value <= high for value in known)
    reason = f"{hits} of {len(known)} in the interval"
    if judged == "each":
        met = hits == len(known)
    else:
        centre = middle(known, judged)
        met = low <= centre <= high
        reason = f"the {judged} is {'in' if met else 'outside'} the interval; {reason}"
    missing = max(seeds, len(values)) - len(known)
    if missing > 0:
        reason += f"; {missing} of {len(known) + missing} seeds missing"
    if met and missing <= 0:
        return REPRODUCED, reason
    return (PARTLY if met or 2 * hits >= len(known) else MISSED), reason


def possible(scale: str) -> tuple[str, ...]:
    """The verdicts that a claim can have at a scale."""
    if scale == "quick":
        return SEEN, NOT_SEEN, NOT_RUN
    return REPRODUCED, PARTLY, MISSED, REJECTED, NOT_DECISIVE, NOT_RUN


def named(verdict: str, scale: str, rejects: str | None) -> str:
    """A verdict of `judge` as it is shown.

    Args:
        verdict: that of `judge`.
        scale: of the tables. What small runs show is not the published number, so that it has
            verdicts of its own and is no part of any sum.
        rejects: the interpretation of the paper that the claim's setting tests, if it tests one.
    """
    if verdict == NOT_RUN:
        return NOT_RUN
    if scale == "quick":
        return SEEN if verdict == REPRODUCED else NOT_SEEN
    if rejects:
        return REJECTED if verdict == MISSED else NOT_DECISIVE
    return verdict


def because(verdict: str, why: Mapping[Any, str] | None) -> str:
    """The cause and sentence of a claim that is missed or partly met: ``interval: Nine ...``."""
    if verdict not in (PARTLY, MISSED) or not why:
        return ""
    ((cause, sentence),) = why.items()
    return f"{cause}: {words.sentence(sentence)}."


def middle(values: list[float], judged: str) -> float:
    """The one number that stands for all seeds: their mean if that is judged, else the median.

    The mean is not a number where values are infinite on both sides.
    """
    if judged != "mean":
        return statistics.median(values)
    return statistics.fmean(values) if not {-math.inf, math.inf} <= {*values} else math.nan


def tally(given: Iterable[str], afterwards: Iterable[str] = ()) -> str:
    """Counts of each verdict as text: ``3 reproduced, 1 partly; not counted: 1 not decisive``.

    Args:
        given: the verdicts.
        afterwards: those of them whose interval was set afterwards.
    """
    counts, later = Counter(given), Counter(afterwards)[REPRODUCED]
    texts = {each: f"{counts[each]} {each}" for each in VERDICTS if each != NOT_DECISIVE}
    texts[REPRODUCED] += f" ({later} {AFTERWARDS})" if later else ""
    parts = [text for each, text in texts.items() if counts[each]]
    apart = counts[NOT_DECISIVE]
    besides = [f"not counted: {apart} {NOT_DECISIVE}"] if apart else []
    return "; ".join([", ".join(parts), *besides] if parts else besides)
