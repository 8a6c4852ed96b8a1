"""``grokatlas explain``: the tree behind a result as text or as a page, or what would be remade."""

from pathlib import Path

from grokatlas.audit import commands, locate
from grokatlas.audit.tree import Tree
from grokatlas.errors import UserError
from grokatlas.publish import one_page
from grokatlas.results import files


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
    return page(name, results, html)


def page(name: str, results: Path, out: Path) -> int:
    """Write the page of a result; arguments and errors as for `main`."""
    from grokatlas.publish.lineage import page as module

    one_page.check_place(f"--html {out}", out, module.GENERATOR)
    tree = Tree(locate.tree_of(Path(name), results))
    target = locate.target(tree, name)
    if not tree.results[target].sound:
        raise UserError(target, f"cannot be explained: {tree.results[target].problem}")
    files.write_text(out, module.html(tree, target))
    print(f"wrote {out}")
    return 0
