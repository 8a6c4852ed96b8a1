"""The parts of `docs/papers/*.md` that repeat the YAML: figures with captions, and deviations.

A figure's picture, or a table's text, lies in the page's own folder.
"""

from pathlib import Path

from grokatlas import config, store
from grokatlas.errors import UserError

BEGIN = "<!-- {part}: made by `grokatlas reference` from config/papers/{paper}.yaml -->"
END = "<!-- end of {part} -->"


def write(configuration: Path, pages: Path) -> None:
    """Renew the generated parts of every paper's page, where the page exists.

    Args:
        configuration: the folder of ``papers/``.
        pages: the folder of the pages.

    Raises:
        UserError: a page lacks a part's marks, or the YAML is malformed.
    """
    for name, paper in config.load_papers(configuration / "papers", "all").items():
        page = pages / f"{name}.md"
        if not page.exists():
            continue
        text = page.read_text(encoding="utf-8")
        for part, body in (
            ("figures", figures(name, paper, pages)),
            ("deviations", deviations(paper)),
        ):
            text = _replace(text, part, name, body, page)
        with store.atomic(page) as temporary:
            temporary.write_text(text, encoding="utf-8")


def figures(name: str, paper: config.Paper, pages: Path) -> str:
    """Every figure with its picture or text, caption and the command that makes it."""
    blocks = []
    for figure, entry in paper.figures.items():
        made = store.outputs("figure", store.figure_stem("paper", name, figure))[0]
        shown = f"![{name}, {figure}]({name}/{figure}.png)"
        if store.is_published_table(figure):
            shown = (pages / name / made.name).read_text(encoding="utf-8").partition("<!--")[0]
        blocks += [
            f"### {figure}",
            shown.strip(),
            entry.caption.strip(),
            f"    snakemake --config scale=paper -- {made}",
        ]
    return "\n\n".join(blocks)


def deviations(paper: config.Paper) -> str:
    """The numbered deviations as a list."""
    lines = []
    for number, entry in enumerate(paper.deviations, 1):
        code = f" **Code:** {entry.code}." if entry.code else ""
        lines.append(
            f"{number}. *{entry.where}*. **Paper:** {entry.paper}.{code} "
            f"**Ours:** {entry.ours}. **Why:** {entry.why}."
        )
    return "\n".join(lines)


def _replace(text: str, part: str, paper: str, body: str, page: Path) -> str:
    begin, end = BEGIN.format(part=part, paper=paper), END.format(part=part)
    if text.count(begin) != 1 or text.count(end) != 1:
        raise UserError(str(page), f"must hold once each: {begin} and {end}")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{body}\n\n{end}{after}"
