"""Malformed other readings of the small good paper of `malformed.py`."""

from tests.unit.malformed import Bad

PLACE = "paper.yaml: other_readings.slow"
GOOD = "about: a slow one, figures: [fig1], instead: {two: {cases: {descent: adaptive}}}"


def bad(name: str, reading: str, place: str, fragment: str, named: str = "slow") -> Bad:
    """A reading that is wrong, or that its deviation names wrongly."""
    new = f"why: stable, other_readings: [{named}]}}\nother_readings:\n  slow: {{{reading}}}\n"
    return Bad(name, "why: stable}\n", new, place, fragment)


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


CASES = "{cases: {descent: adaptive}}"
MALFORMED_READINGS = [
    bad("no case", "about: slow, figures: [fig1]", PLACE, "names no case; give `instead`"),
    bad("no case of a table", changed(CASES, "{}"), f"{PLACE}.instead.two", "names no case; give"),
    bad("empty cases", changed(CASES, "{cases: {}}"), f"{PLACE}.instead.two", "names no case"),
    bad("reading of no deviation", GOOD, PLACE, "no deviation names it; add it to", named=""),
    bad(
        "deviation of no reading",
        GOOD,
        "paper.yaml: deviations.0.other_readings",
        "no other reading 'slaw'; did you mean 'slow'?",
        named="slow, slaw",
    ),
    bad("its figure", changed("[fig1]", "[fig2]"), f"{PLACE}.figures", "no such figure 'fig2'"),
    bad("no figure", changed("[fig1]", "[]"), f"{PLACE}.figures", "[] is not allowed"),
    bad(
        "its experiment",
        changed("{two:", "{three:"),
        f"{PLACE}.instead",
        "these figures draw no experiment 'three'; allowed: one, two",
    ),
    bad(
        "drawn case",
        changed("descent:", "descant:"),
        f"{PLACE}.instead.two.cases",
        "two has no case 'descant'; did you mean 'descent'?",
    ),
    bad(
        "case that stands in",
        changed(": adaptive", ": adaptiv"),
        f"{PLACE}.instead.two.cases",
        "two has no case 'adaptiv'; did you mean 'adaptive'?",
    ),
    bad(
        "experiment that stands in",
        changed(CASES, "{of: twa}"),
        f"{PLACE}.instead.two.of",
        "no experiment 'twa'; did you mean 'two'?",
    ),
    bad(
        "paper that stands in",
        changed(CASES, "{of: geometri/two}"),
        f"{PLACE}.instead.two.of",
        "no paper 'geometri'; did you mean 'geometry'?",
    ),
    bad(
        "its keyword",
        "about: slow, figures: [fig1], keywords: {stap: 5}",
        f"{PLACE}.keywords",
        "no claim on these figures has the keyword 'stap'; did you mean 'step'?",
    ),
    bad(
        "its claim",
        "about: slow, figures: [fig1], claims: {G6: G7}",
        f"{PLACE}.claims",
        "no claim 'G7'",
    ),
    bad(
        "claim without meaning",
        f"{GOOD}, not_judged: {{G7: why}}",
        f"{PLACE}.not_judged",
        "no claim 'G7'",
    ),
    bad(
        "keyword it concerns",
        f"{GOOD}, only: {{stap: 5}}",
        f"{PLACE}.only",
        "no claim on these figures has the keyword 'stap'; did you mean 'step'?",
    ),
    bad(
        "keyword as drawn",
        "about: slow, figures: [fig1], keywords: {step: 500}",
        PLACE,
        "no claim on its figures is otherwise under it; change what it names",
    ),
    bad(
        "keyword of no claim it concerns",
        f"{GOOD}, only: {{step: 5}}",
        PLACE,
        "no claim on its figures is otherwise under it; change what it names",
    ),
    bad(
        "case for itself",
        changed(": adaptive", ": descent"),
        f"{PLACE}.instead.two",
        "it stands in for itself; name another case, or another table `of`",
    ),
    bad(
        "table for itself",
        changed(CASES, "{of: geometry/two}"),
        f"{PLACE}.instead.two",
        "it stands in for itself; name another case",
    ),
    bad(
        "claim for itself",
        "about: slow, figures: [fig1], claims: {G6: G6}",
        f"{PLACE}.claims",
        "G6 stands in for itself; name another claim",
    ),
    bad(
        "claims for each other",
        "about: slow, figures: [fig1], claims: {G6: G4, G4: G6}",
        f"{PLACE}.claims",
        "G4 stands in for G6, and another for it; remove one of them",
    ),
    bad(
        "table of no paper",
        changed(CASES, "{of: /two}"),
        f"{PLACE}.instead.two.of",
        "'/two' names no table; write an experiment, or `paper/experiment`",
    ),
    bad(
        "table of no name",
        changed(CASES, "{of: ''}"),
        f"{PLACE}.instead.two.of",
        "'' names no table; write an experiment",
    ),
    bad("its key", f"{GOOD}, case: two", f"{PLACE}.case", "unknown key"),
    bad("no sentence", changed("about: a slow one, ", ""), f"{PLACE}.about", "missing"),
]
