from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.audit import locate, metadata, tree
from grokatlas.errors import UserError
from grokatlas.plan import declared_jobs
from grokatlas.results import files
from tests.checkout import imported
from tests.unit import audit_tree


def told(capsys, *arguments):
    assert cli.main(["explain", *arguments]) == 0
    return capsys.readouterr().out


def runs(jobs):
    return [job.target.name for job in jobs.values() if job.kind == "run"]


def test_the_tree_behind_a_figure(jobs, capsys):
    text = told(capsys, "toy/fig1")
    for run in runs(jobs):
        assert f"run {run}: digest" in text
    assert "optimizer: gd(lr=0.1)" in text
    assert "optimizer: gd(lr=0.2)" in text
    assert "3 members: seed 0..2" in text
    assert f"commit {'c' * 12} (clean)" in text
    assert "GPU H200 (GPU-1, driver 550" in text
    assert "12.5 s on the device" in text
    assert "segment: steps 0 to 6 on node1, job 17" in text
    assert "segment: steps 6 to 10 on node2, job 18" in text
    assert "data set" in text


def test_a_result_used_twice_is_told_once(jobs, capsys):
    text = told(capsys, "toy/fig1")
    run = runs(jobs)[0]
    assert text.count(f"run {run}: digest") == 1
    assert f"run {run}: see above" in text


def test_uncommitted_changes_and_acceptance_show(jobs, capsys):
    run = next(job for job in jobs.values() if job.kind == "run")
    note = {"old": "a" * 64, "new": run.digest, "reason": "renamed a variable", "who": "Ada"}
    note |= {
        "when": "2026-01-02T00:00:00Z",
        "code": run.code,
        "changed": ["grokatlas.engine.training"],
    }
    git = {"commit": "c" * 40, "dirty": True}
    audit_tree.edited(run.manifest, seal=True, git=git, accepted=[note])
    text = told(capsys, run.target.name)
    assert "with uncommitted changes" in text
    assert "accepted: renamed a variable (Ada, 2026-01-02T00:00:00Z" in text
    assert "changed: grokatlas.engine.training" in text


@pytest.mark.parametrize(
    "name",
    [
        "results/smoke/figures/toy/fig1",
        "results/smoke/figures/toy/fig1.pdf",
        "results/smoke/figures/toy/fig1.png",
        "results/smoke/figures/toy/fig1.csv",
        "results/smoke/figures/toy/fig1.manifest.json",
        "results/smoke/figures/toy/fig1.spec.json",
        "toy/fig1",
    ],
)
def test_the_names_of_a_figure(jobs, name):
    found = locate.target(tree.Tree(Path("results")), name)
    assert found == "results/smoke/figures/toy/fig1"


def test_a_run_is_found_by_its_first_digits(jobs):
    run = runs(jobs)[0]
    assert locate.target(tree.Tree(Path("results")), run[:6]) == f"results/runs/{run}"


def test_the_columns_and_the_command(jobs, capsys):
    lines = told(capsys, "toy/fig1", "--values").splitlines()
    assert "  train_loss: logged during training (table column of that name)" in lines
    assert "  ratio: computed in grokatlas.papers.toy.fig1 from its tables" in lines
    command = "snakemake --cores all --forceall results/smoke/figures/toy/fig1.pdf"
    assert lines[-1] == f"git checkout {'c' * 40} && {command} --config scale=smoke"


def test_a_light_measure_stands_with_its_table(here, capsys):
    audit_tree.build(audit_tree.declared(light=True))
    lines = told(capsys, "toy/fig1", "--values").splitlines()
    measured = 'measure: reached_steps(column="train_loss", levels.0=0.5)'
    assert [line.strip() for line in lines].count(measured) == 1
    assert "  ratio: measured by measures/reached_steps.py (table column of that name)" in lines
    assert "  train_loss: logged during training (table column of that name)" in lines


def test_a_table_of_some_of_the_seeds_says_so(jobs, capsys):
    assert "so far" not in told(capsys, "toy/fig1")
    file = Path("results/smoke/tables/toy/rates.manifest.json")
    spec = files.read_json(file)["spec"]
    left_out = [{"axis": "seed", "values": 3, "of": 10}]
    audit_tree.edited(file, seal=True, spec=spec | {"so_far": left_out})
    lines = [line.strip() for line in told(capsys, "toy/fig1").splitlines()]
    assert lines.count("so far: 3 of 10 seeds") == 1


@pytest.mark.parametrize("part", [".manifest.json", ".parquet"])
def test_a_harmed_table_tells_nothing_of_its_light_measures(here, capsys, part):
    audit_tree.build(audit_tree.declared(light=True))
    file = Path(f"results/smoke/tables/toy/rates{part}")
    file.write_text("{}")
    assert "  ratio: computed in grokatlas" in told(capsys, "toy/fig1", "--values")
    file.unlink()
    assert "  ratio: computed in grokatlas" in told(capsys, "toy/fig1", "--values")


def test_columns_are_not_read_from_a_modified_file(jobs, capsys):
    Path("results/smoke/figures/toy/fig1.csv").write_text("a,b\n1,2\n")
    assert cli.main(["explain", "toy/fig1", "--values"]) == 1
    assert "is not the file its manifest records" in capsys.readouterr().err


def test_an_untrusted_manifest_explains_nothing(jobs, capsys):
    audit_tree.edited(Path("results/smoke/figures/toy/fig1.manifest.json"), digest="0" * 64)
    assert cli.main(["explain", "toy/fig1"]) == 1
    assert "was edited" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_a_file_sent_by_mail_is_found_by_its_digest(jobs, tmp_path, capsys, suffix):
    sent = tmp_path / f"figure.{suffix}"
    sent.write_bytes(Path(f"results/smoke/figures/toy/fig1.{suffix}").read_bytes())
    text = told(capsys, str(sent))
    assert f"byte for byte results/smoke/figures/toy/fig1.{suffix}" in text
    assert f"run {runs(jobs)[0]}: digest" in text
    sent.write_bytes(sent.read_bytes() + b"\n")
    assert "not byte for byte" in told(capsys, str(sent))


def test_a_file_in_a_folder_called_results_is_found_by_its_digest(jobs, tmp_path, capsys):
    sent = tmp_path / "mail" / "results" / "sent.pdf"
    sent.parent.mkdir(parents=True)
    sent.write_bytes(Path("results/smoke/figures/toy/fig1.pdf").read_bytes())
    assert "byte for byte results/smoke/figures/toy/fig1.pdf" in told(capsys, str(sent))


def test_what_was_not_made_yet_is_said_to_be_so(jobs, capsys):
    figure = jobs["results/smoke/figures/toy/fig1"]
    for file in (figure.manifest, *figure.outputs):
        file.unlink()
    assert cli.main(["explain", str(figure.target)]) == 1
    problem = "it was not made yet; run `snakemake` to make it"
    assert capsys.readouterr().err == f"{figure.target}: cannot be explained: {problem}\n"


@pytest.mark.parametrize("name", ["toy/fig3", "results/quick/figures/toy/fig3.pdf"])
def test_what_is_declared_and_not_made_is_told_from_a_typo(jobs, monkeypatch, capsys, name):
    waiting = "results/quick/figures/toy/fig3"
    monkeypatch.setattr(declared_jobs, "jobs", lambda: {**jobs, waiting: None})
    assert cli.main(["explain", name]) == 1
    assert capsys.readouterr().err == f"{name}: was not made yet; run `snakemake` to make it\n"
    assert cli.main(["explain", "toy/fgi1"]) == 1
    told = "toy/fgi1: no such result in results; did you mean 'toy/fig1'?\n"
    assert capsys.readouterr().err == told


def test_a_file_sent_before_its_figure_was_accepted_is_found(jobs, tmp_path, capsys):
    figure = jobs["results/smoke/figures/toy/fig1"]
    sent = tmp_path / "figure.pdf"
    sent.write_bytes(audit_tree.pdf(f"digest {'a' * 64}; commit {'b' * 40}; runs 0123456789ab"))
    note = {"old": "a" * 64, "new": figure.digest, "reason": "x", "who": "y", "when": "z"}
    audit_tree.edited(figure.manifest, seal=True, accepted=[note])
    assert "figure toy/fig1" in told(capsys, str(sent))


@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_a_figure_that_is_not_here_tells_what_it_carries(jobs, tmp_path, capsys, suffix):
    sent = tmp_path / f"other.{suffix}"
    text = f"digest {'d' * 64}; commit {'b' * 40} dirty; runs 0123456789ab abcdef012345"
    sent.write_bytes(getattr(audit_tree, suffix)(text))
    assert cli.main(["explain", str(sent)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    for part in ("toy/fig1 (smoke scale)", "d" * 12, "b" * 40 + " dirty", "0123456789ab"):
        assert part in error


def test_a_figure_of_a_study_carries_both_commits(tmp_path):
    file = tmp_path / "figure.png"
    text = f"digest {'a' * 64}; commit {'b' * 40}; study commit {'c' * 40} dirty; runs {'d' * 12}"
    file.write_bytes(audit_tree.png(text))
    found = metadata.origin(file)
    assert found.commit == f"{'b' * 40}; study commit {'c' * 40} dirty"
    assert found.runs == ("d" * 12,)


def test_a_figure_of_an_older_version_carries_its_digest_alone(tmp_path):
    file = tmp_path / "old.pdf"
    file.write_bytes(audit_tree.pdf(f"digest {'d' * 64}"))
    found = metadata.origin(file)
    assert (found.digest, found.commit, found.runs) == ("d" * 64, "unknown", ())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"%PDF-1.4\n",
        b"%PDF-1.4\ntrailer << /Info 7 0 R >>",
        audit_tree.pdf(f"digest {'d' * 64}")[:-40],
        audit_tree.png(f"digest {'d' * 64}")[:60],
        audit_tree.png(f"digest {'d' * 64}").replace(b"digest", b"Digest"),  # its checksum says so
        audit_tree.png("made with another tool"),
        audit_tree.pdf("x" * 100),
        b"hello",
    ],
    ids=range(9),
)
def test_a_file_without_origin_is_refused_in_one_line(tmp_path, data):
    file = tmp_path / "x.pdf"
    file.write_bytes(data)
    with pytest.raises(UserError, match=r"x\.pdf: "):
        metadata.origin(file)


def test_nothing_of_the_audit_imports_torch_or_snakemake(jobs):
    code = "from grokatlas import cli; cli.main(['explain', 'toy/fig1']); cli.main(['verify']);"
    code += "cli.main(['diff', 'results', 'results'])"
    assert not imported(code, "torch", "snakemake", "matplotlib")
