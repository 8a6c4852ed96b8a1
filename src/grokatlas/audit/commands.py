"""The audit's commands, as the command line calls them; each returns the exit code."""

import sys
from pathlib import Path

from grokatlas.audit import locate, report
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify as judge
from grokatlas.errors import UserError
from grokatlas.plan import declared_jobs
from grokatlas.results import files


def verify(paths: list[str], results: Path, receipt: str | None, strict: bool) -> int:
    """Judge every file of a tree, print what is wrong, write the receipt.

    Args:
        paths: where to start from; everything if empty.
        results: the tree.
        receipt: where to write the receipt; ``-`` prints it instead of the text.
        strict: fail on accepted results too.

    Returns:
        0 if every file is ok, else 1.

    Raises:
        UserError: a path means nothing, or the configuration is wrong.
    """
    results = locate.tree_of(Path(paths[0]), results) if paths else results
    tree = Tree(results)
    if receipt not in (None, "-") and Path(receipt).resolve().is_relative_to(results.resolve()):
        raise UserError(
            f"--json {receipt}", "is in the tree that it vouches for; write it elsewhere"
        )
    chosen = locate.targets(tree, paths) if paths else None
    found = judge(tree, declared_jobs.jobs(results=results), chosen)
    content = report.receipt(found, results, strict)
    if receipt == "-":
        print(files.json_text(content), end="")
    else:
        print(report.text(found, strict))
    if receipt not in (None, "-"):
        files.write_json(Path(receipt), content)
    return 0 if content["passed"] else 1


def explain(name: str, results: Path, values: bool) -> int:
    """Print the tree behind a figure, table or run.

    Raises:
        UserError: the name means nothing here.
    """
    from grokatlas.audit import explain as module

    tree = Tree(locate.tree_of(Path(name), results))
    print(module.text(tree, name, values))
    return 0


def stale(name: str | None, results: Path) -> int:
    """Print what would be made again now, why, and the commands that make or keep it.

    Args:
        name: what to look at, with what it is made from; None for everything.
        results: the tree.

    Raises:
        UserError: the name means nothing here, or this is no checkout.
    """
    from grokatlas.audit import stale_text

    tree = Tree(locate.tree_of(Path(name), results) if name else results)
    target = None if name is None else locate.target(tree, name)
    print("\n".join(stale_text.lines(tree, target)))
    return 0


def diff(first: str, second: str, results: Path) -> int:
    """Print what differs between two figures, tables, runs or trees.

    Returns:
        0 for the same numbers, else 1.

    Raises:
        UserError: a name means nothing, or a file is not what its manifest records.
    """
    from grokatlas.audit import diff as module

    lines, same = module.compare(first, second, results)
    print("\n".join(lines))
    return 0 if same else 1


def accept(paths: list[str], results: Path, reason: str) -> int:
    """Keep results although the code changed.

    Raises:
        UserError: a result does not verify, its spec changed, or no reason is given.
    """
    from grokatlas.audit import accept as module

    print("\n".join(module.accept(Tree(results), paths, reason)), file=sys.stdout)
    return 0
