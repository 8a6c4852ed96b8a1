"""A report has its parts and every miss with its why; its LaTeX is sound; mistakes are a line."""

import re
from collections import Counter

import pytest

from grokatlas import cli
from grokatlas.errors import UserError
from grokatlas.publish import report, report_latex
from grokatlas.publish.recorded_rows import RecordedRows
from tests.checkout import ROOT, declared_papers, program

PAPERS = declared_papers()
RECORD = RecordedRows(ROOT / "recorded", PAPERS)
NAMES = [name for name, paper in PAPERS.items() if paper.source.arxiv]


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("form", report.FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_a_report_has_its_parts_and_every_miss_with_its_why(name, form):
    text = report.Report(PAPERS, RECORD, name).text(form)
    for part, title in report.FORMS[form].items():
        assert re.search(rf"^{re.escape(title)}\n\n[^#\n]", text, re.MULTILINE), part
    missed = 0
    for claim in PAPERS[name].claims:
        assert f"| {claim.id} | " in text
        if RECORD.verdict(name, claim) in ("not reproduced", "partly"):
            missed += 1
            ((cause, sentence),) = claim.why.items()
            assert f"- {claim.id}, {cause}: {sentence[0].upper()}{sentence[1:]}.\n" in text
    assert missed or name == "jacobian_alignment"
    for experiment in PAPERS[name].experiments:
        assert f"`{experiment}`\n\n" in text
    assert "not written down" not in text


def test_a_paper_without_a_number_of_arxiv_has_no_link_to_one():
    source = PAPERS["geometry"].source.model_copy(update={"arxiv": None, "code": None})
    papers = PAPERS | {"geometry": PAPERS["geometry"].model_copy(update={"source": source})}
    assert "arxiv" not in report.Report(papers, RECORD, "geometry").text("mlrc").lower()


def test_the_example_is_what_is_recorded():
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    made = report.Report(PAPERS, RECORD, "grokalign").text("mlrc")
    assert text == made, "run `grokatlas reference`"


@pytest.mark.parametrize("name", NAMES)
def test_a_letter_is_a_page_of_errors_choices_and_misses(name):
    text = report.Report(PAPERS, RECORD, name).letter()
    assert len(text.split()) < 850
    for each in PAPERS[name].deviations:
        assert (f"- *{each.where}*: {each.paper}" in text) == (each.kind == "error")
    for claim in PAPERS[name].claims:
        if RECORD.verdict(name, claim) in ("not reproduced", "partly"):
            assert re.search(rf"^- .*\b{claim.id}, ", text, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_latex_is_balanced_and_escaped(name):
    made = report.Report(PAPERS, RECORD, name)
    for text in (made.text("mlrc"), made.text("rescience"), made.letter()):
        check(report_latex.document(text))


def check(latex: str) -> None:
    """Assert that environments and braces are balanced, and that no special is bare."""
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", latex):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    body = latex.partition(r"\begin{document}")[2]
    plain = re.sub(r"\\[a-zA-Z]+\*?|\\.", " ", body)  # commands, and what is escaped
    count = Counter(plain)
    assert count["{"] == count["}"]
    outside = re.sub(r"\$ ?\$", "", re.sub(r"(?m)^.* & .*$", "", plain))
    assert not set(outside) & set('#%_~^<|"&$`')
    assert all(character < "\u0250" for character in latex)


def test_each_kind_of_block_and_mark():
    latex = report_latex.document(
        "# A_b\n\n**50 %** of *x_1* and `a*_{b}`, [it](https://a.org/x_y#z).\nNo a* or b*.\n\n"
        "1. one\n   and on\n2. two\n\n- item\n\n| a | b |\n| --- | --- |\n| x \\| y | & |\n"
    )
    check(latex)
    for part in (
        r"\section*{A\_b}",
        r"\textbf{50 \%} of \emph{x\_1} and \texttt{a*\_\{b\}}, "
        r"\href{https://a.org/x\_y\#z}{it}. No a* or b*.",
        "\\item one and on\n\\item two\n\\end{enumerate}",
        "\\begin{itemize}\n\\itemsep0pt\\parskip0pt\n\\item item\n",
        "x \\textbar{} y & \\& \\\\\n",
    ):
        assert part in latex


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["grokaling"], "report grokaling: no such paper; did you mean 'grokalign'? allowed: "),
        (["geometry", "--form", "icml"], "--form icml: no such form; allowed: mlrc, rescience"),
        (["plates"], "papers/plates/paper.yaml: report: is not given; write its keys "),
    ],
)
def test_a_mistake_is_one_line(given, line, capsys):
    assert cli.main(["report", *given]) == 1
    told = capsys.readouterr().err
    assert told.startswith(line)
    assert told.count("\n") == 1


def test_the_command_writes_markdown_and_latex(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(report, "ENGINES", {"no_such_program": []})
    assert cli.main(["report", "geometry", "--letter", "--out", str(tmp_path)]) == 0
    assert {file.name for file in tmp_path.iterdir()} == {
        "geometry_letter.md",
        "geometry_letter.tex",
    }
    assert "no PDF: none of no_such_program is here" in capsys.readouterr().out


@pytest.mark.parametrize("code", [0, 1])
def test_latex_that_is_at_hand_makes_a_pdf_or_says_where_its_log_is(tmp_path, monkeypatch, code):
    latex = program(tmp_path / "latex", f'echo "$@" > calls\nexit {code}')
    monkeypatch.setattr(report, "ENGINES", {str(latex): ["-pdf"]})
    out = tmp_path / "out"
    made = report.main("geometry", "mlrc", False, out)
    if code:
        with pytest.raises(UserError, match=r"geometry_mlrc\.tex: .*failed; its log is"):
            list(made)
    else:
        assert list(made)[-1] == str(out / "geometry_mlrc.pdf")
    assert (out / "calls").read_text().split()[-1] == "geometry_mlrc"
