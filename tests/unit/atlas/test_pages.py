"""What the atlas shows, as data and as pages, without a browser."""

import json
from pathlib import Path

import pytest

from grokatlas import __version__
from grokatlas import text as words
from grokatlas.atlas import build, contents, editions
from grokatlas.audit.tree import Tree
from grokatlas.declare import overlays
from grokatlas.results import layout
from tests.atlas import small_atlas
from tests.atlas.parsed_page import page
from tests.atlas.small_atlas import NASTY
from tests.unit import audit_tree


def test_numbers_as_words():
    values = [7, 2e6, 0.030617, 1e-10, float("inf"), None, 123456.7, 9999.6]
    texts = ["7", "2,000,000", "0.03062", "1e-10", "∞", "", "123,457", "10,000"]
    assert [words.number(value) for value in values] == texts
    assert words.number(float("inf"), words.NEVER) == "never"
    assert words.interval(5, 20) == "5 to 20"
    assert words.interval(None, 0.06) == "at most 0.06"
    assert words.interval(0.99, None) == "at least 0.99"
    assert words.figure_title("fig5_low_rank") == "Figure 5, low rank"
    assert words.figure_title("fig5_low_rank", "matrices") == "Matrices"
    assert words.figure_title("fig5", "vectors") == "Figure 5: vectors"
    assert words.figure_title("memory", "memory of Adam", 1) == "Plate 1: memory of Adam"
    assert words.sentence("t2 is late") == "t2 is late"
    names = ["depth", "table1", "fig10", "fig2"]
    assert sorted(names, key=words.place) == ["fig2", "fig10", "table1", "depth"]


def test_a_markdown_table_is_its_cells():
    assert contents.cells(small_atlas.TABLE) == [["method", "ours"], ["a | b", "x2.1 ± 0.3"]]


def test_methods_are_names_of_blocks_and_the_usual_dynamics_is_none():
    specs = [
        {"optimizer": {"name": "adam"}, "penalties": [{"name": "l2"}, {"name": "l1"}]},
        {"dynamics": {"name": "gradient_training"}, "gradients": [{"name": "grokfast_ema"}]},
        {"dynamics": {"name": "riemannian_flow"}, "model": {"name": "mlp"}},
    ]
    assert contents.methods_of(specs) == ("adam", "grokfast_ema", "l1", "l2", "riemannian_flow")


def test_what_a_scale_shrinks_is_told_by_name():
    published = {"task": {"name": "mnist", "points": 10}, "train": {"steps": 9}, "penalties": []}
    here = {"task": {"name": "digits"}, "train": {"steps": 5}, "penalties": [{"name": "l2"}]}
    assert list(overlays.differences(here, published)) == [
        ("penalties", [{"name": "l2"}], []),
        ("task.name", "digits", "mnist"),
        ("train.steps", 5, 9),
    ]
    told = {"train.steps": {"here": [5], "published": [9]}}
    told["ensemble.seed"] = {"here": [[0, 1]], "published": [5, None]}
    found = contents.sizes(told | {"task.name": {"here": ["digits"], "published": ["mnist"]}})
    assert found == [
        ("task.name", "digits", "mnist"),
        ("seed", "0, 1", "5; none"),
        ("train.steps", "5", "9"),
    ]


@pytest.mark.usefixtures("here")
def test_a_figure_that_is_not_made_is_told_by_its_job_file():
    stem = layout.figure_stem("smoke", "toy", "fig1")
    layout.manifest_of("figure", stem).unlink()
    found = contents.behind(Tree(layout.RESULTS), stem.as_posix())
    kinds = [name.split("/")[1] for name in found]
    assert sorted(kinds) == ["data", "measures", "measures", "runs", "runs", "smoke", "smoke"]


def test_every_page_says_how_to_cite_it(folder):
    for file in folder.glob("*.html"):
        text = page(folder, file.name).text
        assert f"version = {{{__version__}}}" in text
        assert f"Grokking Atlas {__version__}" in text


def test_an_edition_names_commit_and_date_where_there_is_one():
    told = editions.of("c0ffee1", "2026-11-28")
    assert told["edition"] == f"Grokking Atlas {__version__}, commit c0ffee1 of 2026-11-28"
    assert "year = {2026}" in told["citation"]
    told = editions.of("", "")
    assert told["edition"] == f"Grokking Atlas {__version__}"
    assert "year" not in told["citation"]


@pytest.mark.usefixtures("here")
def test_plates_stand_by_number_and_what_is_made_before_what_is_not(monkeypatch):
    spec = small_atlas.spec()
    for number, name in enumerate(("fig3", "fig2", "fig1"), 1):
        plate = {"number": number, "question": "?", "prediction": "-", "answer": None}
        spec["papers"]["toy"]["figures"][name] |= {"plate": plate | {"limits": "-"}, "title": "it"}
    monkeypatch.setattr(small_atlas, "spec", lambda: spec)
    found = page(small_atlas.pages(), "paper-toy.html").text
    titles = ["Plate 2: it", "Plate 3: it", "Plate 1: it"]
    assert sorted(titles, key=found.index) == titles


def test_of_plates_with_one_number_the_one_that_is_claimed_first_is_first():
    figures = {
        **{name: {"plate": {"number": 3}} for name in ("after", "alone", "before")},
        **{name: {"plate": None} for name in ("fig10", "fig2")},
    }
    claims = [{"figure": figure} for figure in ("before", "fig10", "after", "fig2")]
    ordered = ["fig2", "fig10", "before", "after", "alone"]
    assert contents._ordered(figures, claims) == ordered


def test_nothing_from_data_becomes_markup(folder):
    for name in ("index.html", "claims.html", "findings.html", "paper-toy.html"):
        found = page(folder, name)
        assert NASTY in found.text
        scripts = [attrs for tag, attrs in found.elements if tag == "script"]
        assert all(set(attrs) == {"defer", "src"} for attrs in scripts)
        assert not [attrs for _, attrs in found.elements if "onerror" in attrs]


def test_curves_of_data_are_a_script_of_plain_values(folder):
    text = (folder / "toy-fig1.curves.js").read_text(encoding="utf-8")
    head, _, rest = text.partition(" = ")
    assert head == '(window.grokatlasCurves ??= {})["toy-fig1"]'
    made = json.loads(rest.rstrip(";\n"))
    assert made["groups"][0]["values"] == [small_atlas.SERIES, "plain"]
    assert len(made["curves"]) == 8
    assert not (folder / "toy-fig2.curves.js").exists()


def test_absent_earlier_and_failed_figures_show_as_such(folder):
    text = page(folder, "paper-toy.html").text
    assert "Figure 2 ↺ made by earlier code" in text
    assert "Figure 3 - not made" in text
    assert f"It failed. The last line of its log: {small_atlas.ERROR}" in text
    assert "Figure 1 What it shows" in text
    assert "Depth - not made Not made yet at this scale" in page(folder, "paper-other.html").text
    assert not (folder / "toy-fig3.png").exists()


def test_a_figure_tells_its_data_files_command_and_origin(folder):
    found = page(folder, "paper-toy.html")
    assert "Data linear regression instead of mnist" in found.text
    assert "2 runs, 6 members, 3 s of wall time on H200" in found.text
    links = {attrs.get("href") for tag, attrs in found.elements if tag == "a"}
    assert {f"toy-fig1.{kind}" for kind in ("png", "pdf", "csv", "specs.json")} <= links
    command = "snakemake --cores all --forceall results/smoke/figures/toy/fig1.pdf"
    assert f"git checkout {'c' * 40} && {command} --config scale=smoke" in found.text
    assert "optimizer: gd(lr=0.1)" in found.text
    assert "GPU H200" in found.text
    specs = json.loads((folder / "toy-fig1.specs.json").read_text())
    assert {spec["optimizer"]["lr"] for name, spec in specs.items() if "/runs/" in name} == {
        0.1,
        0.2,
    }


@pytest.mark.usefixtures("here")
def test_a_figure_of_runs_that_were_not_made_alike_says_so():
    assert "Not made alike" not in page(small_atlas.pages(), "paper-toy.html").text
    manifest = next(layout.run_folder("").glob("*/manifest.json"))
    audit_tree.edited(manifest, seal=True, versions={"torch": "2.99.0"})
    found = page(small_atlas.pages(), "paper-toy.html")
    assert "Not made alike runs of torch 2.0 (1) and 2.99.0 (1)" in found.text


@pytest.mark.usefixtures("here")
def test_a_figure_of_some_of_the_seeds_says_so_and_so_do_its_claims(monkeypatch):
    spec = small_atlas.spec()
    spec["papers"]["toy"]["figures"]["fig1"]["so_far"] = "3 of 10 seeds"
    spec["papers"]["toy"]["figures"]["fig3"]["so_far"] = "1 of 10 seeds"
    spec["papers"]["toy"]["so_far"] = {"T1": "3 of 10 seeds", "T2": "2 of 10 seeds"}
    assert "of 10 seeds" not in page(small_atlas.pages(), "paper-toy.html").text
    monkeypatch.setattr(small_atlas, "spec", lambda: spec)
    folder = small_atlas.pages()
    text = page(folder, "paper-toy.html").text
    assert "So far 3 of 10 seeds" in text
    assert "✓ reproduced 3 of 10 seeds T1" in text
    assert "◐ partly 2 of 10 seeds T2" in text  # it reads other tables of the figure
    assert "✗ not reproduced T3" in text
    assert "○ not run at this scale T4" in text
    text = page(folder, "claims.html").text
    assert "Figure 1 3 of 10 seeds What it shows" in text
    assert "✓ reproduced 3 of 10 seeds T1" in text


def test_a_published_table_is_a_table(folder):
    found = page(folder, "paper-toy.html")
    assert "Table 1 method ours a | b x2.1 ± 0.3" in found.text
    assert ("table", {"class": "published"}) in found.elements


@pytest.mark.usefixtures("here")
def test_what_an_earlier_atlas_left_is_removed():
    folder = layout.atlas_folder("smoke")
    (folder / "log.txt").write_text("")
    (folder / "old-fig9.png").write_text("")
    small_atlas.pages(fig1="")
    names = {file.name for file in folder.iterdir()}
    assert "old-fig9.png" not in names
    assert "toy-fig1.png" not in names
    assert {"log.txt", "manifest.json", "toy-fig2.png", "plotly.min.js"} <= names
    assert "MIT" in (folder / "plotly.LICENSE.txt").read_text(encoding="utf-8")
    assert not [name for name in names if name.endswith((".spec.json", ".part"))]
    assert all(file.is_file() for file in folder.iterdir())


def test_a_deviation_tells_what_was_measured_of_it(folder):
    text = page(folder, "paper-toy.html").text
    _, _, listed = text.partition("Deviations Where")
    assert "Why it converges Measured T1 it is quick" in listed
    assert ": 10 steps (9 to 11)" in listed
    assert "T4" not in listed


@pytest.mark.usefixtures("here")
def test_a_plate_asks_and_answers(folder):
    text = page(folder, "paper-toy.html").text
    asked = f"Question Is it so? {NASTY} Predicted before the run It is."
    assert text.count(" ".join(asked.split())) == 1
    assert "Answer. None yet: the full scale was not run." in text
    assert "The answer in full, and its limits None yet" in text
    assert "Limits. Nothing else." in text


def test_a_figure_tells_that_members_were_stopped_in_version_0_2():
    small_atlas.pages()
    run = min(layout.RESULTS.glob("runs/*/manifest.json"))
    audit_tree.edited(run, seal=True, members=3, stopped={"2": 1200})
    text = page(small_atlas.pages(), "paper-toy.html").text
    assert "Stopped 1 of 6 members: the watch stopped them, the first from step 1,200 on" in text


def test_a_figure_tells_that_members_diverged():
    folder = small_atlas.pages()
    assert "Diverged" not in page(folder, "paper-toy.html").text
    for manifest in layout.RESULTS.glob("runs/*/manifest.json"):
        audit_tree.edited(manifest, seal=True, members=3, diverged={"1": 40, "2": 1200})
    text = page(small_atlas.pages(), "paper-toy.html").text
    told = "what they log is not finite, the first from step 40 on"
    assert f"Diverged 4 of 6 members: {told}" in text
    assert "2 of 3 members diverged (the first at step 40)" in text  # where it comes from


def test_a_study_is_shown_apart_with_what_it_recorded(folder, monkeypatch):
    monkeypatch.chdir(folder.parents[2])
    front = page(folder, "index.html")
    assert "study-own.html" in [given.get("href") for _, given in front.elements]
    assert "Studies of other papers" in front.text
    assert "quick scale" in front.text
    own = page(folder, "study-own.html")
    assert "quick as recorded" in own.text
    assert ": smaller sizes than those of the caption. Smaller." in own.text
    assert "2 runs on a CPU" in own.text
    assert "12 steps" in own.text
    assert own.text.count("seen at quick scale") >= 2
    assert "it is quick in a study" not in page(folder, "claims.html").text
    assert (folder / "study-own-fig1.png").read_bytes() == Path("study.png").read_bytes()


def test_imported_logs_of_a_study_were_not_trained(here, monkeypatch):
    spec = small_atlas.spec()
    spec["studies"]["own"]["figures"][0] |= {"imported": "yes", "so_far": "3 of 10 seeds"}
    monkeypatch.setattr(small_atlas, "spec", lambda: spec)
    own = page(small_atlas.pages(), "study-own.html").text
    assert "logs of others, which were imported: nothing was trained here" in own
    assert "on a CPU" not in own
    assert "3 of 10 seeds" in own


def test_misses_stand_below_the_name_of_their_paper(folder):
    text = page(folder, "index.html").text
    _, _, misses = text.partition("What does not reproduce, and why")
    assert misses.index("toy") < misses.index("T3")
    assert "other" not in misses.partition("reproduced")[0]


def test_without_studies_no_page_names_them(here):
    spec = small_atlas.spec()
    del spec["studies"]
    figures = [(paper, each) for paper, of in small_atlas.FIGURES.items() for each in of]
    absent = {layout.figure_stem(small_atlas.SCALE, *each): "" for each in figures}
    ages = absent | {layout.claims_stem(small_atlas.SCALE): "current"}
    target = layout.atlas_folder(small_atlas.SCALE)
    build.write(spec, ages, target)
    assert "Studies" not in page(target, "index.html").text
    assert not list(target.glob("study-*"))
