"""``grokatlas explain``: the tree behind a result as text or as a page, or what would be remade."""

import base64
import time
from collections import Counter
from pathlib import Path

from grokatlas import __version__
from grokatlas import text as words
from grokatlas.audit import commands, explain, locate, values
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import SOUND, VERDICTS, Report, verify
from grokatlas.errors import UserError
from grokatlas.plan import declared_jobs
from grokatlas.results import files, layout

GENERATOR = "grokatlas explain"  # a page that says so was written by this command


def main(name: str | None, results: Path, values: bool, html: Path | None, stale: bool) -> int:
    """Explain a result.

    Args:
        name: a path, ``paper/figure``, a run id, or a pdf or png from elsewhere; None for all that
            is stale.
        results: the tree.
        values: also say where each column of a figure's data comes from.
        html: where a page of the tree goes; None for text.
        stale: tell what would be made again now instead.

    Raises:
        UserError: the name means nothing here, arguments exclude each other, or the page cannot be
            written.
    """
    if stale:
        if values or html:
            other = "--values" if values else "--html"
            raise UserError("--stale", f"is a list of its own; leave {other} out")
        return commands.stale(name, results)
    if name is None:
        raise UserError("explain", "name a figure, table or run, or give --stale")
    if html is None:
        return commands.explain(name, results, values)
    if values:
        raise UserError("--values", "is for the text; leave --html out")
    _check_place(f"--html {html}", html)
    tree = Tree(locate.tree_of(Path(name), results))
    target = locate.target(tree, name)
    if not tree.results[target].sound:
        raise UserError(target, f"cannot be explained: {tree.results[target].problem}")
    files.write_text(html, page(tree, target))
    print(f"wrote {html}")
    return 0


def page(tree: Tree, target: str) -> str:
    """The page of a lineage: one html file with all that it shows, in the look of the atlas.

    Args:
        tree: the results.
        target: one of them, whose manifest is sound.

    Raises:
        UserError: the configuration of the checkout has a mistake.
    """
    from grokatlas.atlas import templating

    behind: set[str] = set()
    part = explain.parts(tree, target, behind)
    report = verify(tree, declared_jobs.jobs(results=tree.folder), [target])
    kinds = Counter(layout.kind_of(Path(name)) for name in behind - {target})
    made_from = {kind.replace("dataset", "data set"): number for kind, number in kinds.items()}
    return (
        templating.environment()
        .get_template("lineage.html")
        .render(
            generator=GENERATOR,
            version=__version__,
            when=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            target=target,
            part=part,
            behind=sorted(behind),
            counts=[words.count(number, kind) for kind, number in sorted(made_from.items())],
            problems=_problems(report),
            verdicts=_verdicts(report),
            title=explain.title,
            notes=report.notes,
            picture=_picture(tree, target, report),
            command=values.command(tree.results[target].sound, target),
        )
    )


def _problems(report: Report) -> dict[tuple[str, str], list[str]]:
    """The results that are not in order by verdict and reason."""
    listed: dict[tuple[str, str], dict[str, None]] = {}
    for name, finding in report.findings.items():
        if finding.verdict not in SOUND:
            own = finding.verdict in ("missing", "modified")
            reason = f"{name}: {finding.reason}" if own else finding.reason
            listed.setdefault((finding.verdict, reason), {})[report.targets[name]] = None
    return {key: list(targets) for key, targets in listed.items()}


def _verdicts(report: Report) -> dict[str, str]:
    """The worst verdict on the files of each result."""
    ordered = sorted(report.findings.items(), key=lambda item: VERDICTS.index(item[1].verdict))
    return {report.targets[name]: finding.verdict for name, finding in ordered}


def _picture(tree: Tree, target: str, report: Report) -> str:
    """The png of a figure that is what its manifest says, in base64; empty for anything else."""
    name = f"{target}.png"
    recorded = tree.results[target].outputs.get(name, "none")
    if report.hashes.get(name) != recorded:
        return ""
    return base64.b64encode(tree.path(name).read_bytes()).decode()


def _check_place(option: str, out: Path) -> None:
    """Refuse a path at which something else lies, or that is in a results folder."""
    if out.suffix != ".html":
        raise UserError(option, "must end with .html")
    if not out.parent.is_dir():
        raise UserError(option, "its folder is not there; make it")
    if out.exists() and f'content="{GENERATOR}"' not in _start(option, out):
        raise UserError(option, "holds something else, which the page would replace")
    if locate.tree_of(out.resolve(), Path("/dev/null")) in out.resolve().parents:
        raise UserError(option, "is in a results folder; write it elsewhere")


def _start(option: str, file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(1000)
    except OSError as error:
        raise UserError(option, f"cannot be replaced: {error.strerror}") from None
