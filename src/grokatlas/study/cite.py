"""``grokatlas cite``: BibTeX of the software, of papers, and of a figure with what is behind it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas.audit import locate
from grokatlas.audit.tree import Tree
from grokatlas.declare import strict_yaml
from grokatlas.declare.names import PAPERS
from grokatlas.errors import UserError
from grokatlas.results.environment import COMPUTING
from grokatlas.study import shipped
from grokatlas.text import bibtex, figure_title

CITATION = "CITATION.cff"


def main(name: str | None, results: Path) -> Iterator[str]:
    """The entries to cite.

    Args:
        name: ``paper/figure`` or its path, which is made: its paper and its origin are told as
            well; None for the software and all papers.
        results: the tree that the figure is in.

    Raises:
        UserError: the figure is not made here.
    """
    figure = _figure(name, results) if name else None
    cited = strict_yaml.load(shipped.part(CITATION))
    yield bibtex("software", "grokatlas", _work(cited, str(cited["date-released"])[:4]))
    keys: list[str] = []
    for reference in cited["references"]:
        number = reference["identifiers"][0]["value"].removeprefix("arXiv:")
        key = f"{reference['authors'][0]['family-names'].split()[-1].lower()}_{number}"
        key += "b" * keys.count(key)  # a paper and its workshop version have one number
        keys.append(key)
        if figure is None or (number == figure["arxiv"] and reference["title"] == figure["paper"]):
            more = {"eprint": number, "archiveprefix": "arXiv", "note": reference.get("notes")}
            yield bibtex("misc", key, _work(reference, reference["year"]) | more)
    if figure is not None:
        yield bibtex("misc", figure["key"], figure["fields"])


def _figure(name: str, results: Path) -> dict[str, Any]:
    """The paper of a figure, and the fields of its entry, from its manifest and what is behind."""
    tree = Tree(locate.tree_of(Path(name), results))
    target = locate.target(tree, name)
    content = tree.results[target].sound
    if content.get("kind") != "figure":
        raise UserError(
            name, "is no sound figure; name paper/figure (`grokatlas verify` checks it)"
        )
    spec = content["spec"]
    source = _source(spec["paper"])
    runs = [each.rpartition("/")[2] for each in tree.ancestors([target]) if "/runs/" in each]
    versions = content.get("versions") or {}
    software = [f"{key} {versions[key]}" for key in ("python", *COMPUTING) if key in versions]
    commit = (content.get("git") or {}).get("commit", "unknown")
    note = [f"{spec['scale']} scale", f"digest {content['digest'][:12]}", f"commit {commit[:12]}"]
    note += [f"runs {' '.join(sorted(runs))}", *software]
    fields = {
        "title": f"{figure_title(spec['figure'])} of {source['title']}, redrawn by Grokking Atlas",
        "author": "{The Grokking Atlas developers}",
        "year": str(content.get("started", ""))[:4],
        "note": ", ".join(note),
    }
    key = f"grokatlas_{spec['paper']}_{spec['figure']}"
    return {"paper": source["title"], "arxiv": source.get("arxiv"), "key": key, "fields": fields}


def _source(paper: str) -> dict[str, Any]:
    """The source of a paper as the configuration has it; its name where there is none."""
    file = PAPERS / paper / "paper.yaml"
    source: dict[str, Any] = strict_yaml.load(file)["source"] if file.is_file() else {}
    return {"title": paper} | source


def _work(cited: dict[str, Any], year: int | str) -> dict[str, Any]:
    """Title, authors, year, version, address and DOI, as far as they are given."""
    authors = (
        f"{a['family-names']}, {a['given-names']}" if "family-names" in a else f"{{{a['name']}}}"
        for a in cited["authors"]
    )
    keys = {"version": "version", "url": "repository-code", "doi": "doi"}
    known = {field: cited[key] for field, key in keys.items() if key in cited}
    return {"title": cited["title"], "author": " and ".join(authors), "year": year} | known
