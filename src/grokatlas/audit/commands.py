"""The audit's commands, as the command line calls them; each returns a text or its exit code."""

import dataclasses
from pathlib import Path

from grokatlas.audit import claim, locate, report
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify as judge
from grokatlas.errors import UserError
from grokatlas.plan import declared_jobs
from grokatlas.results import files


def verify(paths: list[str], results: Path, receipt: str | None, strict: bool) -> int:
    """Judge every file of a tree, or of paths and what is behind them; print, and write a receipt.

    Args:
        paths: where to start from; everything if empty.
        results: the tree.
        receipt: where to write the receipt; ``-`` prints it instead of the text.
        strict: fail on accepted results too.
    """
    results = locate.tree_of(Path(paths[0]), results) if paths else results
    tree = Tree(results)
    if receipt not in (None, "-") and Path(receipt).resolve().is_relative_to(results.resolve()):
        raise UserError(
            f"--json {receipt}", "is in the tree that it vouches for; write it elsewhere"
        )
    chosen = locate.targets(tree, paths) if paths else None
    needed = tree.ancestors(chosen or [])
    jobs = declared_jobs.behind(chosen or [], needed, results)
    findings = judge(tree, jobs, chosen)
    if not findings.findings:
        raise UserError(str(results), "holds no file of a result; run `snakemake` to make some")
    if receipt == "-":
        print(files.json_text(report.receipt(findings, results, strict)), end="")
    else:
        print(report.text(findings, strict))
    if receipt not in (None, "-"):
        files.write_json(Path(receipt), report.receipt(findings, results, strict))
    return 0 if report.passed(findings, strict) else 1


def explain(
    name: str | None,
    results: Path,
    values: bool,
    stale: bool,
    as_json: bool = False,
) -> str:
    """The tree behind a result, or what would be made again now, why, and by which command.

    Args:
        name: a path, ``paper/figure``, a run id, the id of a claim, or a pdf or png from elsewhere;
            None for all that is stale.
        results: the tree.
        values: also say where each column of a figure's data comes from.
        stale: tell what would be made again instead.
        as_json: give one object in place of the text.
    """
    for given, option in ((values, "--values"), (as_json, "--json")):
        if stale and given:
            raise UserError("--stale", f"is a list of its own; leave {option} out")
    if values and as_json:
        raise UserError("--values", "is text alone; leave --json out")
    if stale:
        from grokatlas.audit import stale_text

        tree = Tree(locate.tree_of(Path(name), results) if name else results)
        return "\n".join(stale_text.lines(tree, name and locate.target(tree, name)))
    if name is None:
        raise UserError("explain", "name a figure, table or run, or give --stale")
    if claim.is_named(name):
        facts = claim.facts(name, results)
        return files.json_text(facts).rstrip() if as_json else "\n".join(claim.lines(facts))
    from grokatlas.audit import explain as module

    tree = Tree(locate.tree_of(Path(name), results))
    if as_json:
        node = module.parts(tree, locate.target(tree, name))
        return files.json_text(dataclasses.asdict(node)).rstrip()
    return module.text(tree, name, values)


def diff(first: str, second: str, results: Path) -> int:
    """Print what differs between two results or trees; 0 for the same numbers, else 1."""
    from grokatlas.audit import diff as module

    lines, same = module.compare(first, second, results)
    print("\n".join(lines))
    return 0 if same else 1
