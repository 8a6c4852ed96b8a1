"""Mistakes in the other readings of a paper: names of what is not there, readings of no deviation.

Each is told in one line, when the configuration is read.
"""

from collections.abc import Iterable, Mapping

from grokatlas.declare.models import PAPER, Paper, label
from grokatlas.declare.other_readings import Instead, OtherReading, judgements
from grokatlas.errors import UserError, nearest
from grokatlas.results import layout


def check(papers: Mapping[str, Paper], name: str) -> None:
    """Check the other readings of a paper, and the deviations that name them.

    Raises:
        UserError: for the first mistake.
    """
    paper, file = papers[name], label(name, PAPER)
    named = set()
    for position, deviation in enumerate(paper.deviations):
        place = f"{file}: deviations.{position}.other_readings"
        for key in deviation.other_readings:
            _known(place, "no other reading", key, paper.other_readings)
            named.add(key)
    for key, reading in paper.other_readings.items():
        place = f"{file}: other_readings.{key}"
        if key not in named:
            problem = "no deviation names it; add it to `other_readings` of the deviation"
            raise UserError(place, f"{problem} that says what is drawn")
        for figure in reading.figures:
            _known(f"{place}.figures", "no such figure", figure, paper.figures)
        _check_claims(paper, place, reading)
        drawn = {
            layout.owner_of_table(name, reference)[1]: layout.owner_of_table(name, reference)
            for figure in reading.figures
            for reference in paper.figures[figure].experiments
        }
        for experiment, instead in reading.instead.items():
            _known(f"{place}.instead", "these figures draw no experiment", experiment, drawn)
            where = f"{place}.instead.{experiment}"
            _check_instead(papers, name, where, drawn[experiment], instead)
        alone = paper.model_copy(update={"other_readings": {key: reading}})
        if not judgements({**papers, name: alone}, name, set()):
            problem = "no claim on its figures is otherwise under it"
            raise UserError(place, f"{problem}; change what it names, or remove it")


def _check_claims(paper: Paper, place: str, reading: OtherReading) -> None:
    """Check the ids and keywords of claims that a reading names."""
    ids = [claim.id for claim in paper.claims]
    for each in (*reading.claims, *reading.claims.values()):
        _known(f"{place}.claims", "no claim", each, ids)
    for each, other in reading.claims.items():
        if other in reading.claims:
            problem = f"{each} stands in for itself; name another claim"
            if other != each:
                problem = f"{other} stands in for {each}, and another for it; remove one of them"
            raise UserError(f"{place}.claims", problem)
    for each in reading.not_judged:
        _known(f"{place}.not_judged", "no claim", each, ids)
    own = [claim for claim in paper.claims if claim.figure in reading.figures]
    known = sorted({keyword for claim in own for keyword in claim.keywords})
    for field, named in (("keywords", reading.keywords), ("only", reading.only)):
        for each in named:
            _known(f"{place}.{field}", "no claim on these figures has the keyword", each, known)


def _check_instead(
    papers: Mapping[str, Paper], name: str, place: str, drawn: tuple[str, str], instead: Instead
) -> None:
    """Check that cases, and the experiment that stands in, are there.

    That of a paper which is not selected is not looked at: its table is not made either.
    """
    if instead.of is not None and not all(instead.of.split("/")):
        problem = f"{instead.of!r} names no table; write an experiment, or `paper/experiment`"
        raise UserError(f"{place}.of", problem)
    owner, experiment = layout.owner_of_table(name, instead.of) if instead.of else drawn
    cases = (instead.cases or {}).items()
    if (owner, experiment) == drawn and all(case == other for case, other in cases):
        raise UserError(place, "it stands in for itself; name another case, or another table `of`")
    if owner in papers and papers[owner].figures:  # else it is there for some tables alone
        _known(f"{place}.of", "no experiment", experiment, papers[owner].experiments)
        for case in (instead.cases or {}).values():
            _known(
                f"{place}.cases",
                f"{experiment} has no case",
                case,
                _cases(papers, owner, experiment),
            )
    for case in instead.cases or {}:
        _known(f"{place}.cases", f"{drawn[1]} has no case", case, _cases(papers, *drawn))


def _cases(papers: Mapping[str, Paper], owner: str, experiment: str) -> list[str]:
    return list(papers[owner].experiments[experiment].cases or {})


def _known(place: str, problem: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise UserError(place, f"{problem} {name!r}; {nearest(name, list(known))}")
