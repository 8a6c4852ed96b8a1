"""The page of a lineage: one html file with all that it shows, in the look of the atlas."""

import base64
import time
from pathlib import Path

from grokatlas import __version__
from grokatlas.audit import values
from grokatlas.audit.tree import Tree
from grokatlas.plan import declared_jobs
from grokatlas.publish import one_page
from grokatlas.publish.lineage import lineage

HERE = Path(__file__).parent
GENERATOR = "grokatlas explain"  # a page that says so was written by this command
OPEN = 12  # so many runs of an experiment are shown without a click
NAMES = {
    "atlas": "folder of pages",
    "claims": "table of claims",
    "figure": "figure",
    "table": "table",
    "measure": "measure",
    "run": "run",
    "dataset": "data set",
}
MARKS = {"ok": "✓", "not kept": "○", "stale-code": "↺", "stale-spec": "↺", "accepted": "≈"}
WORDS = {
    "ok": "as recorded",
    "not kept": "record only",
    "stale-code": "stale: code changed",
    "stale-spec": "stale: configuration changed",
    "modified": "modified",
    "missing": "missing",
    "unverified": "unverified",
    "orphan": "not declared any more",
}


def html(tree: Tree, target: str) -> str:
    """The whole page.

    Args:
        tree: the results.
        target: one of them, whose manifest is sound.

    Raises:
        UserError: the configuration of the checkout has a mistake.
    """
    found = lineage.of(tree, target, declared_jobs.jobs(results=tree.folder))
    picture = lineage.picture(tree, found.target)
    pages = one_page.environment(HERE)
    pages.globals |= {
        "generator": GENERATOR,
        "names": NAMES,
        "marks": MARKS,
        "words": WORDS,
        "open": OPEN,
    }
    return pages.get_template("page.html").render(
        it=found,
        picture=base64.b64encode(picture).decode() if picture else "",
        command=values.command(found.target.content, target),
        version=__version__,
        when=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    )
