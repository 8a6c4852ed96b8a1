"""Numbers in texts are those of recorded claims, and a stale one is an error."""

import shutil

import pytest

from grokatlas import cli
from grokatlas.declare import bound_numbers
from grokatlas.declare.papers import load_papers
from grokatlas.errors import UserError
from tests.checkout import ROOT


@pytest.fixture
def root(tmp_path):
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "claims.csv").write_text(
        "paper,id,value,lowest,highest,count\ntoy,T1,0.874,0.5,inf,1234\nother,O2,-2.5,,,3\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("at {T1.value:.2f} (T1)", "at 0.87 (T1)"),
        ("of {T1.value:.0%} and {T1.count:,.0f}", "of 87 percent and 1,234"),
        ("{other/O2.value} to {T1.highest}", "-2.5 to ∞"),
        ("{N1b: N1e} and {T1.count:d}", "{N1b: N1e} and 1234"),
        ("{T9.value}, {other/O2.lowest}", "(not recorded: toy/T9), (not recorded: other/O2)"),
    ],
)
def test_a_number_in_braces_is_the_recorded_one(root, text, made):
    assert bound_numbers.filled(text, "toy", root) == made
    assert bound_numbers.filled({"a": [text, 1]}, "toy", root) == {"a": [made, 1]}


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("T1.valu:.2f", "no number of a claim; did you mean 'value'. allowed: count"),
        ("T1.value:.2q", "Unknown format code 'q' for .*; write a form such as .2f"),
        ("T1.value:d", "Unknown format code 'd' for .*; write a form such as .2f"),
        ("T9.count:.2q", "Unknown format code 'q' for .*; write a form such as .2f"),
    ],
)
def test_a_number_that_means_nothing_is_refused_in_one_line(root, name, problem):
    with pytest.raises(UserError, match=rf"^toy: {{{name}}}: {problem}"):
        bound_numbers.filled(f"at {{{name}}} (T1)", "toy", root)
    with pytest.raises(UserError, match=rf"^toy: 0\.5<!--{name}-->: {problem}"):
        bound_numbers.renewed(f"at 0.5<!--{name}--> (T1)", "toy", root)


def test_a_number_of_a_page_is_renewed_with_its_name_kept(root):
    page = "It is x0.5<!--T1.value:.2f-->, **3<!--other/O2.value:.1f-->** | 7<!--T1.count:.0f--> |"
    made = bound_numbers.renewed(page, "toy", root)
    shown = ["x0.87<!--T1.value:.2f-->", "**-2.5<!--other/O2.value:.1f-->** | 1234<!--T1.count"]
    assert made == f"It is {', '.join(shown)}:.0f--> |"
    assert bound_numbers.renewed(made, "toy", root) == made


@pytest.mark.parametrize(
    ("page", "made"),
    [
        ("6.6-9.1<!--T1.value:.2f-->", "6.6-0.87<!--T1.value:.2f-->"),
        ("Table 3,7.55<!--T1.value:.2f-->", "Table 3,0.87<!--T1.value:.2f-->"),
        ("at 1<!--T1.value:+.2f-->", "at +0.87<!--T1.value:+.2f-->"),
        ("at 21,234.5<!--other/O2.value-->", "at -2.5<!--other/O2.value-->"),
        ("at -∞<!--T1.highest-->", "at ∞<!--T1.highest-->"),
    ],
)
def test_what_stands_before_a_number_of_a_page_stays(root, page, made):
    assert bound_numbers.renewed(page, "toy", root) == made
    assert bound_numbers.renewed(made, "toy", root) == made


def test_an_answer_says_what_was_recorded():
    plate = load_papers(ROOT / "config" / "papers", ["plates"])["plates"].figures["recovery"].plate
    assert "so that the exponent over all N is 0.08 (P9b" in " ".join(plate.answer.split())


def test_stale_prose_is_an_error(tmp_path, capsys):
    for name in ("config", "recorded", "docs"):
        ignored = shutil.ignore_patterns("paper", "quick", "site")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    config = str(tmp_path / "config")
    assert cli.main(["reference", "--check", config]) == 0
    file = tmp_path / "recorded" / "claims.csv"
    row = next(line for line in file.read_text().splitlines() if line.startswith("beyond_l2,N8,"))
    value = row.split(",")[9]  # the highest, which the page's table says beside the lowest
    file.write_text(file.read_text().replace(row, row.replace(value, "0.77")))
    assert cli.main(["reference", "--check", config]) == 1
    assert "beyond_l2.md: is out of date; run `grokatlas reference`" in capsys.readouterr().err
    assert cli.main(["reference", config]) == 0
    page = (tmp_path / "docs" / "papers" / "beyond_l2.md").read_text(encoding="utf-8")
    assert "to 0.77<!--N8.highest:.2f--> (N8)" in page
    assert cli.main(["reference", "--check", config]) == 0
    file.write_text(file.read_text().replace("beyond_l2,N76,", "beyond_l2,N999,"))
    assert cli.main(["reference", config]) == 1
    assert "names a number of beyond_l2/N76, which is not recorded" in capsys.readouterr().err
