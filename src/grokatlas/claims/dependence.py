"""The dependence of a conclusion: a sentence from its verdicts under all interpretations."""

from collections.abc import Sequence
from dataclasses import dataclass

from grokatlas.claims.verdicts import (
    MISSED,
    NOT_DECISIVE,
    NOT_SEEN,
    PARTLY,
    REJECTED,
    REPRODUCED,
    SEEN,
)

HOLDS, IN_PART, FAILS = "holds", "holds in part", "fails"
OUTCOMES = {
    **dict.fromkeys((REPRODUCED, NOT_DECISIVE, SEEN), HOLDS),
    PARTLY: IN_PART,
    **dict.fromkeys((MISSED, REJECTED, NOT_SEEN), FAILS),
}
ALL, NONE, PART, DEPENDS, ALONE, OPEN = KINDS = (
    *("holds under all", "holds under none", "holds in part under all", "depends on a choice"),
    *("the drawn interpretation alone", "not judged as drawn"),
)


@dataclass(frozen=True)
class Under:
    """A conclusion under an interpretation other than the drawn one.

    Attributes:
        verdict: as `grokatlas.claims.verdicts` has it.
        choices: what this interpretation chooses otherwise.
        undefined: whether the conclusion has no meaning under it.
    """

    verdict: str
    choices: tuple[str, ...]
    undefined: bool = False

    @property
    def outcome(self) -> str | None:
        """Its outcome, one of `OUTCOMES`; None where it was not judged."""
        return OUTCOMES.get(self.verdict)


def sentence(drawn: str, others: Sequence[Under]) -> tuple[str, str]:
    """The kind of dependence (one of `KINDS`), and its sentence.

    Args:
        drawn: the verdict under the interpretation that is drawn.
        others: under each other interpretation that concerns the conclusion.
    """
    own = OUTCOMES.get(drawn)
    judged = [each for each in others if each.outcome]
    if own is None:
        return OPEN, "not judged as drawn" if judged else "judged under no interpretation"
    if not judged:
        undefined = bool(others) and all(each.undefined for each in others)
        return (
            ALONE,
            "the drawn interpretation alone can be judged"
            if undefined
            else "the drawn interpretation alone was run",
        )
    differ = [each for each in judged if each.outcome != own]
    if differ:
        return DEPENDS, f"depends on: {_choices(differ)}"
    count = len(judged) + 1
    many = "both" if count == 2 else f"all {count}"
    if own == HOLDS:
        return ALL, f"holds under {many} interpretations that were run"
    if own == IN_PART:
        return PART, f"holds in part under {many} interpretations that were run"
    return NONE, f"holds under none of the {count} interpretations that were run"


def _choices(differ: Sequence[Under]) -> str:
    """The common choices of interpretations of another outcome; without any, those of each.

    Choices that were changed together cannot be told apart: ``batch or Adam``.
    """
    common = [e for e in differ[0].choices if all(e in each.choices for each in differ)]
    if common:
        return _either(common)
    return "; ".join(dict.fromkeys(_either(each.choices) for each in differ))


def _either(choices: Sequence[str]) -> str:
    """``batch``, ``batch or Adam``, ``network, penalty or Adam``."""
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last
