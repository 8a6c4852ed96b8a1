"""Each experiment opens with its source, the time it took, what to expect, and its command."""

import re

import pytest

from grokatlas.results import layout
from tests.checkout import CONFIG, declared_papers

PAPERS = declared_papers()
EXPERIMENTS = [(name, each) for name, paper in PAPERS.items() for each in paper.experiments]
WORDS = ("Source: ", "Time seen: ", "Expect: ", "Command: snakemake --config scale=paper -- ")


def _opening(paper: str, experiment: str) -> str:
    """The comment above an experiment, as one line."""
    text = (CONFIG / "papers" / paper / "experiments.yaml").read_text(encoding="utf-8")
    before = text[: re.search(rf"^{experiment}:$", text, re.MULTILINE).start()]
    lines = []
    for line in reversed(before.rstrip("\n").split("\n")):
        if not line.startswith("#") or "$schema" in line:
            break
        lines.insert(0, line.removeprefix("#").strip())
    return " ".join(lines)


@pytest.mark.parametrize(("paper", "experiment"), EXPERIMENTS)
def test_an_experiment_opens_with_its_facts(paper, experiment):
    opening = _opening(paper, experiment)
    places = [opening.find(word) for word in WORDS]
    assert places == sorted(places)
    assert places[0] == 0
    file = opening[places[-1] + len(WORDS[-1]) :]
    figures = {
        str(layout.outputs("figure", layout.figure_stem("paper", paper, name))[0])
        for name, figure in PAPERS[paper].figures.items()
        if experiment in figure.experiments
    }
    assert file in figures
    claims = {claim.id for claim in PAPERS[paper].claims}
    assert set(re.findall(r"\b[A-Z][0-9]+[a-z]?\b", opening[places[2] : places[3]])) <= claims
