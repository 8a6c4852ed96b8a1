"""Mistakes in interpretations: names of what is not there, interpretations of no deviation.

Each is told in one line, when the configuration is read.
"""

from collections.abc import Mapping

from grokatlas.declare import versions
from grokatlas.declare.interpretations import Instead, Interpretation, judgements
from grokatlas.declare.models import PAPER, Paper, label
from grokatlas.errors import UserError, check_known
from grokatlas.results import layout


def check(papers: Mapping[str, Paper], name: str) -> None:
    """Check the other interpretations of a paper, and the deviations that name them."""
    paper, file = papers[name], label(name, PAPER)
    named = set()
    for position, deviation in enumerate(paper.deviations):
        place = f"{file}: deviations.{position}.interpretations"
        for key in deviation.interpretations:
            check_known(place, "no other interpretation", key, paper.interpretations)
            named.add(key)
    for key, interpretation in paper.interpretations.items():
        place = f"{file}: interpretations.{key}"
        if key not in named:
            problem = "no deviation names it; add it to `interpretations` of the deviation"
            raise UserError(place, f"{problem} that says what is drawn")
        for figure in interpretation.figures:
            check_known(f"{place}.figures", "no such figure", figure, paper.figures)
        _check_claims(paper, place, interpretation)
        figures = [paper.figures[figure] for figure in interpretation.figures]
        drawn = {
            own: (owner, own) for each in figures for owner, own in versions.tables(name, each)
        }
        for experiment, instead in interpretation.instead.items():
            check_known(f"{place}.instead", "these figures draw no experiment", experiment, drawn)
            where = f"{place}.instead.{experiment}"
            _check_instead(papers, name, where, drawn[experiment], instead)
        alone = paper.model_copy(update={"interpretations": {key: interpretation}})
        if not judgements({**papers, name: alone}, name, set()):
            problem = "no claim on its figures is otherwise under it"
            raise UserError(place, f"{problem}; change what it names, or remove it")


def _check_claims(paper: Paper, place: str, interpretation: Interpretation) -> None:
    """Check the ids and keywords of claims that an interpretation names."""
    ids = [claim.id for claim in paper.claims]
    for claim_id in (*interpretation.claims, *interpretation.claims.values()):
        check_known(f"{place}.claims", "no claim", claim_id, ids)
    for key, other in interpretation.claims.items():
        if other in interpretation.claims:
            problem = f"{key} stands in for itself; name another claim"
            if other != key:
                problem = f"{other} stands in for {key}, and another for it; remove one of them"
            raise UserError(f"{place}.claims", problem)
    for claim_id in interpretation.not_judged:
        check_known(f"{place}.not_judged", "no claim", claim_id, ids)
    own = [claim for claim in paper.claims if claim.figure in interpretation.figures]
    known = sorted({keyword for claim in own for keyword in claim.keywords})
    for field, named in (("keywords", interpretation.keywords), ("only", interpretation.only)):
        problem = "no claim on these figures has the keyword"
        for keyword in named:
            check_known(f"{place}.{field}", problem, keyword, known)


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
        check_known(f"{place}.of", "no experiment", experiment, papers[owner].experiments)
        for case in (instead.cases or {}).values():
            cases_there = _cases(papers, owner, experiment)
            check_known(f"{place}.cases", f"{experiment} has no case", case, cases_there)
    for case in instead.cases or {}:
        check_known(f"{place}.cases", f"{drawn[1]} has no case", case, _cases(papers, *drawn))


def _cases(papers: Mapping[str, Paper], owner: str, experiment: str) -> list[str]:
    return list(papers[owner].experiments[experiment].cases or {})
