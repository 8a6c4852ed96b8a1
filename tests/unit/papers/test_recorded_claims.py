"""Claims on the recorded tables have the values and verdicts that were recorded.

After a change of a claim that is meant, `grokatlas record` renews these.
"""

import pytest

from grokatlas.claims import controls, judging
from grokatlas.declare import versions
from grokatlas.publish import recorded
from grokatlas.results import csv_file, layout
from tests.checkout import declared_papers
from tests.figures.pictures import EVIDENCE, table

CLAIMS = {
    (name, claim.id): claim for name, paper in declared_papers().items() for claim in paper.claims
}
ROWS = [
    row
    for row in csv_file.read(EVIDENCE / recorded.CLAIMS)
    if row["kept"] == recorded.KEPT and (row["paper"], row["id"]) in CLAIMS
]
FIGURES = dict.fromkeys((row["paper"], CLAIMS[row["paper"], row["id"]].figure) for row in ROWS)


@pytest.mark.parametrize(("paper", "figure"), FIGURES)
def test_a_claim_has_the_value_that_was_recorded(paper, figure):
    for row in ROWS:
        claim = CLAIMS[row["paper"], row["id"]]
        if (row["paper"], claim.figure) != (paper, figure):
            continue
        declared = versions.declared_claim(declared_papers(), paper, claim)
        names = declared["read"]
        tables = {layout.owner_of_table(paper, n)[1]: table(paper, n, row["scale"]) for n in names}
        found = judging.row(paper, declared, tables, row["scale"])
        if row["scale"] == "paper":
            found = controls.checked(paper, declared, found, tables, {})
        assert found["verdict"] == row["verdict"], claim.id
        for key in ("value", "lowest", "highest"):
            known = pytest.approx(float(row[key]), rel=1e-6) if row[key] else None
            assert found[key] == known, (claim.id, key)
