"""What `verify` says of a small tree, and one file of every kind in it."""

from pathlib import Path

from grokatlas.audit import locate
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify
from tests.unit import audit_tree


def judge(jobs, *paths, plan=True):
    """The report on `results`, or on what paths choose, against these jobs or no plan."""
    tree = Tree(Path("results"))
    chosen = locate.targets(tree, list(paths)) if paths else None
    return verify(tree, jobs if plan else None, chosen)


def wrong(jobs, *paths, plan=True) -> dict[str, str]:
    """Every file that is not ok, with its verdict."""
    findings = judge(jobs, *paths, plan=plan).findings
    return {name: f.verdict for name, f in findings.items() if f.verdict != "ok"}


def of_kind(jobs, kind, index=0):
    """The job of a kind at this place among its like."""
    return [job for job in jobs.values() if job.kind == kind][index]


def artefacts(jobs):
    """One file of every kind, by what it is."""
    run, figure = of_kind(jobs, "run"), of_kind(jobs, "figure")
    files = {
        "data": of_kind(jobs, "dataset").outputs[0],
        "history": run.outputs[0],
        "snapshots": run.outputs[1],
        "measure": of_kind(jobs, "measure").outputs[0],
        "table": of_kind(jobs, "table").outputs[0],
        "pdf": figure.outputs[0],
        "png": figure.outputs[1],
        "csv": figure.outputs[2],
    }
    for kind in ("dataset", "run", "measure", "table", "figure"):
        job = of_kind(jobs, kind)
        files[f"{kind} manifest"] = job.manifest
        files[f"{kind} job file"] = job.spec_path
    return files


KINDS = list(artefacts(audit_tree.declared()))


class Malicious:
    """Its pickle makes the file ``pwned`` when it is loaded."""

    def __reduce__(self):
        return (Path("pwned").touch, ())
