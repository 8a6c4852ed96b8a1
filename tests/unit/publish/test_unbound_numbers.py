"""A number in prose that repeats a recorded one of a claim in its sentence has to be bound."""

import shutil
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.publish import unbound_numbers

ROOT = Path(__file__).parents[3]
ROWS = {
    ("toy", "T1"): {"value": "0.874", "lowest": "0.512", "highest": "inf"},
    ("toy", "T2"): {"value": "10850.0", "lowest": "9740.0", "highest": "3.24e-05"},
    ("other", "O2"): {"value": "-2.54", "lowest": "", "highest": ""},
}
RECORD = {(p, i): {"paper": p, "id": i, **row} for (p, i), row in ROWS.items()}
TABLE = "| | paper | {head} | holds |\n| --- | --- | --- | --- |\n| T1 | 0.87 | {cell} | 0.51 |\n"


def names(text, of=unbound_numbers.of_page):
    return [(text[x.start : x.end], x.name) for x in of(text, "toy", RECORD)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is 0.87 (T1).", [("0.87", "T1.value:.2f")]),
        ("Of 87 percent, T1.", [("87 percent", "T1.value:.0%")]),
        ("From 0.51 on, x0.874 (T1).", [("0.51", "T1.lowest:.2f"), ("0.874", "T1.value:.3f")]),
        ("T2: 9,740 to 3.2e-5.", [("9,740", "T2.lowest:,.0f"), ("3.2e-5", "T2.highest:.1e")]),
        ("It falls to -2.5 (other/O2).", [("-2.5", "other/O2.value:.1f")]),
        ("It is 0.87<!--T1.value:.2f-->, from 0.51 on.", [("0.51", "T1.lowest:.2f")]),
    ],
)
def test_a_literal_number_is_seen_with_the_name_to_bind_it_by(text, found):
    assert names(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "It is 0.86 (T1), and 0.5, 10.87, 2026-10-85 and figure/0.87.",
        "T1 holds. It is 0.87, in the next sentence.",
        "- T1\n- 0.87",
        "It is 0.87 (T9), and O2 -2.54 of another paper.",
        "T1 (published: 0.87; ours is less).",
        "<!-- claims: made by `x` from y -->\nT1 0.87\n<!-- end of claims -->",
    ],
)
def test_other_numbers_may_stay(text):
    assert not names(text)


def test_of_a_table_the_columns_of_others_may_stay():
    assert names(TABLE.format(head="ours", cell="-")) == [("0.51", "T1.lowest:.2f")]
    found = [("0.87", "T1.value:.2f"), ("0.51", "T1.lowest:.2f")]
    assert names(TABLE.format(head="ours \\| drawn", cell="0.87")) == found
    assert names(TABLE.format(head="network", cell="0.87 \\| -")) == found


def test_texts_of_yaml_on_what_was_measured_are_read_and_a_block_names_its_claims():
    text = """
deviations:
  - {paper: it is 0.87, ours: it is 0.51, claims: [T1]}
findings:
  - told: >-
      Nearly 10,850
      updates, {T2.lowest:,.0f} at least.
    claims: {toy/T1: reproduced}
fig1:
  claims:
    - {id: T1, statement: it is 0.87, why: {choice: it is 0.87}}
    - {id: T2, why: {choice: it is 0.87}}
"""
    found = [("0.51", "T1.lowest:.2f"), ("10,850", "T2.value:,.0f"), ("0.87", "T1.value:.2f")]
    assert names(text, unbound_numbers.of_yaml) == found


def test_an_unbound_number_is_an_error_with_its_line_and_what_to_write(tmp_path, capsys):
    for name in ("config", "recorded", "docs"):
        ignored = shutil.ignore_patterns("paper", "quick", "site")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    page = tmp_path / "docs" / "papers" / "beyond_l2.md"
    text = page.read_text(encoding="utf-8")
    bound = "9.8<!--N75b.value:.1f-->"
    line = text[: text.index(bound)].count("\n") + 1
    page.write_text(text.replace(bound, "9.8"), encoding="utf-8")
    assert cli.main(["reference", "--check", str(tmp_path / "config")]) == 1
    problem = f"beyond_l2.md: line {line}: 9.8 is a recorded number of N75b; write {bound}"
    assert problem in capsys.readouterr().err
