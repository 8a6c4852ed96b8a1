"""A page for each plate, from the page of all, which repeats the configuration and results."""

import re

PAGE = "papers/plates.md"
FIGURES = re.compile(r"(<!-- figures:.*?-->\n)(.*?)(<!-- end of figures -->)", re.DOTALL)
SECTION = re.compile(r"^### (\w+)\n\n(.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| [^|]* \| (\w+) \|.*$", re.MULTILINE)
MENU = "\n```{toctree}\n:hidden:\n\n%s\n```\n"
REST = "\n\n[The plate](plates/{name}.md) has prediction, picture, answer, limits and claims.\n\n"


def split(text: str) -> tuple[str, dict[str, str]]:
    """The page of all plates, shortened, and the page of each.

    Args:
        text: of the whole page.

    Returns:
        the page with the question of each plate alone; and by name of the plate, its whole section
        with its rows of the claims. Links are still those of the whole page.
    """
    figures = FIGURES.search(text)
    if not figures:
        return text, {}
    sections = dict(SECTION.findall(figures[2]))
    head = next((line for line in text.splitlines() if line.startswith("| | figure |")), "")
    rule = "| --- " * (head.count("|") - 1) + "|"
    pages, short = {}, []
    for name, section in sections.items():
        question = section.partition("\n\n")[0]
        short.append(f"### {name}\n\n{question}{REST.format(name=name)}")
        rows = [row[0] for row in ROW.finditer(text) if row[1] == name]
        claims = "\n".join(["## Claims", "", head, rule, *rows, ""]) if rows else ""
        pages[name] = f"# Plate: {name}\n\n{section.rstrip()}\n\n{claims}"
    menu = MENU % "\n".join(f"plates/{name}" for name in sections)
    return text.replace(figures[2], "\n" + "".join(short)) + menu, pages
