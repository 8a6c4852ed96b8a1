"""What the page of a paper says of other interpretations, from recorded verdicts."""

import pandas as pd
import pytest

from grokatlas.publish import interpretations, recorded
from grokatlas.publish.recorded_rows import RecordedRows
from tests import cases
from tests.unit.declare.test_interpretations import ROUGH, claim, paper

OWN = {"paper": "toy", "id": "T1", "scale": "paper", "verdict": "reproduced"}
OWN |= {"expected_low": "0.0", "expected_high": "1.0"}
UNDER = OWN | {"interpretation": "rough", "verdict": "interpretation rejected", "value": "7"}


@pytest.fixture
def table(tmp_path):
    """The table that these rows make, of a claim as drawn and under a rough interpretation."""

    def made(own: dict[str, str], under: dict[str, str]) -> str:
        pd.DataFrame([own]).to_csv(tmp_path / recorded.CLAIMS, index=False)
        pd.DataFrame([under]).to_csv(tmp_path / recorded.INTERPRETATIONS, index=False)
        papers = paper(claim("T1", case="drawn"), claim("T3"), rough=ROUGH)
        record = RecordedRows(tmp_path, papers)
        return interpretations.table("toy", papers["toy"], record, lambda claim, row: row["value"])

    return made


def test_a_statement_is_shown_with_what_was_recorded_under_an_interpretation(table):
    made = table(OWN, UNDER)
    under = "`rough`: interpretation rejected, 7 | depends on: batch or everywhere |"
    assert made.endswith(
        f"\n| --- | --- | --- | --- | --- |\n| T1 | it is so | reproduced | {under}"
    )


@cases.listed("own", "under")
def test_nothing_is_said_where_one_is_missing_or_of_another_scale_or_interval(table, own, under):
    assert table(OWN | own, UNDER | under) == ""
