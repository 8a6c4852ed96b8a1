"""Results that were made by different software or on different devices are said to be."""

from pathlib import Path

from grokatlas import cli
from grokatlas.audit import mixed
from grokatlas.audit.tree import Tree
from grokatlas.results import files as store
from tests import cases
from tests.unit import audit_tree

TORCH = "runs of torch 2.0 (1) and 2.99.0 (1)"


def second(jobs, kind: str = "run") -> Path:
    """The manifest of the second result of a kind."""
    return [job for job in jobs.values() if job.kind == kind][1].manifest


def said(capsys, *arguments: str) -> list[str]:
    cli.main(list(arguments))
    return capsys.readouterr().out.splitlines()


def test_results_made_alike_have_no_note(jobs, capsys):
    tree = Tree(Path("results"))
    assert mixed.notes(tree, list(tree.results)) == []
    assert not [line for line in said(capsys, "explain", "toy/fig1") if line.startswith("note:")]


def test_verify_names_versions_and_figures(jobs, capsys):
    audit_tree.edited(second(jobs), seal=True, versions={"torch": "2.99.0"})
    figures = "results/smoke/figures/toy/fig1, results/smoke/figures/toy/fig2"
    assert f"note: {TORCH}; together in {figures}" in said(capsys, "verify")
    one = said(capsys, "verify", "toy/fig1")
    assert f"note: {TORCH}; together in results/smoke/figures/toy/fig1" in one


def test_versions_that_no_figure_has_together_are_noted_without_one(jobs, capsys):
    audit_tree.edited(second(jobs), seal=True, versions={"torch": "2.99.0"})
    for job in jobs.values():
        if job.kind in ("table", "figure"):
            job.manifest.unlink()
    assert f"note: {TORCH}" in said(capsys, "verify")


def test_explain_lists_packages_and_says_what_differs(jobs, capsys):
    packages = {"torch": "2.99.0", "numpy": "2.1", "grokatlas": "0.1"}
    variables = {"MKL_CBWR": "AVX2", "OMP_NUM_THREADS": "3"}
    audit_tree.edited(second(jobs), seal=True, versions=packages, environment=variables)
    lines = said(capsys, "explain", "toy/fig1")
    assert f"note: {TORCH}" in lines
    stripped = [line.strip() for line in lines]
    assert "packages: torch 2.0" in stripped
    assert "packages: torch 2.99.0, numpy 2.1" in stripped
    assert "set: MKL_CBWR=AVX2" in stripped


def test_a_run_that_went_on_with_other_software_counts_for_both(jobs, capsys):
    file = second(jobs)
    first, last = store.read_json(file)["segments"]
    parts = [first | {"versions": {"torch": "1.9"}}, last | {"versions": {"torch": "2.0"}}]
    audit_tree.edited(file, seal=True, segments=parts)
    lines = said(capsys, "explain", "toy/fig1")
    assert "note: runs of torch 2.0 (2) and 1.9 (1)" in lines
    assert "segment: steps 0 to 6 on node1, job 17, torch 1.9" in [line.strip() for line in lines]


def differences() -> list[str]:
    """What is said of the first figure."""
    return mixed.of(mixed.behind(Tree(Path("results")), "results/smoke/figures/toy/fig1"))


@cases.listed("changes", "note")
def test_devices_differ_by_kind_and_what_is_not_recorded_is_not_compared(jobs, changes, note):
    audit_tree.edited(second(jobs), seal=True, **changes)
    assert differences() == ([note] if note else [])


def test_vector_instructions_of_cpus_are_compared(jobs):
    files = [job.manifest for job in jobs.values() if job.kind == "run"]
    for file, name in zip(files, ("AVX2", "AVX512"), strict=True):
        host = {"name": "node", "cpu_capability": name}
        audit_tree.edited(file, seal=True, host=host, device={"type": "cpu"})
    assert differences() == ["runs with vector instructions AVX2 (1) and AVX512 (1)"]


def test_measures_are_compared_among_themselves(jobs):
    audit_tree.edited(second(jobs, "measure"), seal=True, versions={"numpy": "2", "torch": "3"})
    assert differences() == ["measures of torch 2.0 (1) and 3 (1)"]


def test_diff_compares_the_variables_that_were_set(jobs, capsys):
    runs = [str(job.target) for job in jobs.values() if job.kind == "run"]
    audit_tree.edited(second(jobs), seal=True, environment={"MKL_CBWR": "AVX2"})
    assert "environment: " not in "".join(said(capsys, "diff", *runs))  # one does not record them
    first = next(job for job in jobs.values() if job.kind == "run")
    audit_tree.edited(first.manifest, seal=True, environment={})
    assert 'environment: MKL_CBWR: absent -> "AVX2"' in said(capsys, "diff", *runs)
