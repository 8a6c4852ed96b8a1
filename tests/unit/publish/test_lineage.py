"""`grokatlas explain --html`: one page that says of every result behind another what it is."""

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.plan import declared_jobs
from grokatlas.plan.jobs import Job
from grokatlas.results import files, layout
from tests.unit import audit_tree

NASTY = "</script><img src=x onerror=alert(1)> & \"quoted\" 'too' {{ 7 * 7 }}"


class Page(HTMLParser):
    """A page as a reader has it.

    Attributes:
        text: all of it, without the style, in one line.
        anchors: the ids of its elements.
        links: where its links lead.
        fetched: what a browser would ask for.
    """

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.anchors: list[str] = []
        self.links: list[str] = []
        self.fetched: list[str] = []
        self._parts: list[str] = []
        self._style = False
        self.feed(file.read_text(encoding="utf-8"))
        self.text = re.sub(r"\s+", " ", "".join(self._parts))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self._style = tag == "style"
        self.anchors += [values["id"]] if "id" in values else []
        if tag == "a":
            self.links.append(values["href"])
        elif tag in ("img", "script", "link", "iframe"):
            self.fetched.append(values.get("src") or values.get("href") or tag)

    def handle_endtag(self, tag):
        self._style = False

    def handle_data(self, data):
        if not self._style:
            self._parts.append(data)


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = audit_tree.declared()
    audit_tree.build(made)
    monkeypatch.setattr(declared_jobs, "jobs", lambda **_: made)
    return made


def page(name: str = "toy/fig1") -> Page:
    assert cli.main(["explain", name, "--html", "page.html"]) == 0
    found = Page(Path("page.html"))
    assert len(found.anchors) == len(set(found.anchors))
    assert all(link.removeprefix("#") in found.anchors for link in found.links)
    assert all(each.startswith("data:") for each in found.fetched)
    return found


def of(jobs: dict[str, Job], kind: str) -> list[Job]:
    return [job for job in jobs.values() if job.kind == kind]


def test_every_result_behind_a_figure_is_there(jobs, capsys):
    found = page()
    assert capsys.readouterr().out == "wrote page.html\n"
    behind = [job for name, job in jobs.items() if not name.endswith("fig2")]
    for job in behind:
        assert job.target.as_posix().replace("/", "-") in found.anchors
        assert job.digest[:12] in found.text
    assert "All of it is what the manifests record, and what this checkout" in found.text
    assert "Made from 1 data set, 2 measures, 2 runs, 1 table." in found.text
    assert found.text.count("gd(lr=0.1)") == 1  # described once, linked from its measure
    assert f"run {of(jobs, 'run')[0].target.name}: see above" in found.text
    for fact in ("gd(lr=0.1)", "gd(lr=0.2)", "GPU H200 (GPU-1", "steps 0 to 6 on node1, job 17"):
        assert fact in found.text
    assert f"git checkout {'c' * 40} && snakemake" in found.text
    assert "Not in order" not in found.text


@pytest.mark.parametrize("kind", ["table", "measure", "run", "dataset"])
def test_any_result_has_a_page(jobs, kind):
    job = of(jobs, kind)[0]
    found = page(job.target.as_posix())
    assert job.digest[:12] in found.text
    assert "this checkout would make" in found.text


def test_a_picture_that_was_sent_leads_to_its_page(jobs, tmp_path):
    sent = tmp_path / "mail.pdf"
    shutil.copy("results/smoke/figures/toy/fig1.pdf", sent)
    assert of(jobs, "figure")[0].digest[:12] in page(str(sent)).text


def test_what_is_stale_is_marked_with_its_reason(jobs, monkeypatch):
    monkeypatch.setattr(declared_jobs, "jobs", lambda **_: audit_tree.declared(run_code="2"))
    found = page()
    assert "6 of 7 results are not in order" in found.text
    assert "changed since: grokatlas.engine.training" in found.text
    assert found.text.count("stale: code changed") == 7  # the list's, and six in the tree
    assert f"grokatlas explain {of(jobs, 'figure')[0].target} --stale" in found.text


def test_what_is_missing_or_harmed_is_marked(jobs):
    first, second = of(jobs, "run")
    shutil.rmtree(first.target)
    second.outputs[0].write_bytes(b"other")
    found = page()
    assert f"run {first.target.name}" in found.text
    assert f"{first.outputs[0]}: missing" in found.text
    assert f"{second.outputs[0]}: its sha256 is not the one in" in found.text
    assert "✗ missing" in found.text
    assert "✗ modified" in found.text


@pytest.mark.parametrize("text", ["{}", "[]", "{", "\0", ""])
def test_a_damaged_manifest_behind_it_is_marked(jobs, text):
    run = of(jobs, "run")[0]
    run.manifest.write_text(text)
    found = page()
    assert "not in order." in found.text
    assert run.target.as_posix().replace("/", "-") in found.anchors


def test_acceptance_and_the_run_store_are_marked(jobs):
    run = of(jobs, "run")[0]
    note = {"old": "a" * 64, "new": run.digest, "reason": NASTY, "who": "Ada", "when": "today"}
    note |= {"code": run.code, "changed": ["grokatlas.engine.training"]}
    mark = {"entry": "x", "host": "node3", "when": "2026-01-02"}
    audit_tree.edited(run.manifest, seal=True, accepted=[note], run_store=mark)
    found = page()
    assert f"accepted: {NASTY} (Ada, today, digest {'a' * 12} -> {run.digest[:12]}" in found.text
    assert "changed: grokatlas.engine.training" in found.text
    assert "brought from the run store 2026-01-02 on node3" in found.text


def test_results_of_an_archive_of_records_are_no_problem(jobs):
    run = of(jobs, "run")[0]
    listed = files.read_json(run.manifest)["outputs"]
    left = {f"{run.target}/{name}": sha256 for name, sha256 in listed.items()}
    for name in left:
        Path(name).unlink()
    files.write_json(layout.RESULTS / "records_only.json", left)
    found = page()
    assert "its files were not kept ○ record only" in found.text
    assert "Not in order" not in found.text


def test_without_a_checkout_age_is_not_judged(jobs, monkeypatch):
    monkeypatch.setattr(declared_jobs, "jobs", lambda **_: None)
    found = page()
    assert "All of it is what the manifests record." in found.text
    assert "whether code and specs are current was not judged" in found.text


def test_a_page_is_replaced_by_a_page_alone(jobs, capsys):
    page()
    page()
    capsys.readouterr()

    def refused(name: str) -> str:
        assert cli.main(["explain", "toy/fig1", "--html", name]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        return line

    Path("thesis.html").write_text("<p>grokatlas explain")
    assert "holds something else" in refused("thesis.html")
    assert "must end with .html" in refused("page.pdf")
    assert "its folder is not there" in refused("nowhere/page.html")
    assert "is in a results folder" in refused("results/page.html")
    Path("folder.html").mkdir()
    assert "cannot be replaced: Is a directory" in refused("folder.html")
    assert cli.main(["explain", "toy/fgi1", "--html", "new.html"]) == 1
    assert "did you mean 'toy/fig1'?" in capsys.readouterr().err
    audit_tree.edited(of(jobs, "figure")[0].manifest, digest="0" * 64)
    assert "cannot be explained" in refused("page.html")
    assert not Path("new.html").exists()
    assert not list(Path().glob(".*.part"))
