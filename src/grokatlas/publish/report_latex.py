"""LaTeX of the Markdown that reports have: headings, paragraphs, lists, tables, code and links."""

import re
from collections.abc import Iterator

HEAD = r"""\documentclass[10pt,a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\setlength{\textwidth}{17.4cm}
\setlength{\textheight}{26.1cm}
\setlength{\oddsidemargin}{-0.74cm}
\setlength{\topmargin}{-0.74cm}
\setlength{\headheight}{0pt}
\setlength{\headsep}{0pt}
\usepackage{longtable,array,hyperref}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\setlength{\tabcolsep}{3pt}
\sloppy
\begin{document}\small
"""
LEVELS = ("section*", "subsection*", "subsubsection*", "paragraph*")
SPECIAL = {each: f"\\{each}" for each in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "∞": r"$\infty$",
    "†": r"\textdagger{}",
}
INLINE = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|\[(?P<shown>[^]]+)\]\((?P<url>[^)\s]+)\)"
    r"|(?<![\w*])\*\*(?=\S)(?P<strong>.+?)(?<=\S)\*\*(?![\w*])"
    r"|(?<![\w*])\*(?=[^\s*])(?P<slanted>[^*]+?)(?<=\S)\*(?![\w*])"
)
ITEM = re.compile(r"(?:(-)|(\d+)\.) +")


def document(markdown: str) -> str:
    """A whole document."""
    return HEAD + "\n".join(_blocks(markdown)) + "\\end{document}\n"


def escaped(text: str) -> str:
    """A text without markup, with every character that LaTeX would take for its own escaped."""
    return "".join(SPECIAL.get(each, each) for each in text)


def inline(text: str) -> str:
    """A text with its code, links and emphasis."""
    parts, end = [], 0
    for found in INLINE.finditer(text):
        parts += [escaped(text[end : found.start()]), _marked(found)]
        end = found.end()
    return "".join([*parts, escaped(text[end:])])


def _marked(found: re.Match[str]) -> str:
    if found["code"]:
        return f"\\texttt{{{escaped(found['code'])}}}"
    if found["url"]:
        url = re.sub(r"([%#_&\\])", r"\\\1", found["url"])
        return f"\\href{{{url}}}{{{inline(found['shown'])}}}"
    if found["strong"]:
        return f"\\textbf{{{inline(found['strong'])}}}"
    return f"\\emph{{{inline(found['slanted'])}}}"


def _blocks(markdown: str) -> Iterator[str]:
    """The blocks between empty lines."""
    for block in re.split(r"\n\s*\n", markdown.strip()):
        lines = block.split("\n")
        if found := re.match("(#+) ", block):
            level = LEVELS[min(len(found[1]), len(LEVELS)) - 1]
            yield f"\\{level}{{{inline(block[found.end() :])}}}\n"
        elif block.startswith("|"):
            yield _table(lines)
        elif ITEM.match(block):
            yield _list(lines)
        elif all(line.startswith("    ") for line in lines):
            code = "\\\\\n".join(f"\\texttt{{{escaped(line.strip())}}}" for line in lines)
            yield f"\\begin{{flushleft}}\n{code}\n\\end{{flushleft}}\n"
        else:
            yield inline(" ".join(lines)) + "\n"


def _list(lines: list[str]) -> str:
    """A list, with or without numbers, whose items may go on in indented lines."""
    items: list[str] = []
    for line in lines:
        if found := ITEM.match(line):
            items.append(line[found.end() :])
        else:
            items[-1] += f" {line.strip()}"
    kind = "enumerate" if lines[0][0].isdigit() else "itemize"
    body = "\n".join(f"\\item {inline(item)}" for item in items)
    return f"\\begin{{{kind}}}\n\\itemsep0pt\\parskip0pt\n{body}\n\\end{{{kind}}}\n"


def _table(lines: list[str]) -> str:
    """A table over pages, its columns as wide as their texts want, within the width of a page."""
    split = [re.split(r"(?<!\\)\|", line.strip())[1:-1] for line in lines]
    rows = [[cell.strip().replace("\\|", "|") for cell in row] for row in split]
    head, body = rows[0], rows[2:]
    longest = [max(4, *(min(len(row[i]), 60) for row in [head, *body])) for i in range(len(head))]
    room = 0.98 - 0.015 * len(head)
    widths = [room * each / sum(longest) for each in longest]
    columns = "".join(f">{{\\raggedright\\arraybackslash}}p{{{w:.3f}\\linewidth}}" for w in widths)
    told = [f"{' & '.join(map(inline, row))} \\\\" for row in body]
    top = " & ".join(f"\\textbf{{{inline(cell)}}}" for cell in head)
    return "\n".join(
        [
            f"{{\n\\begin{{longtable}}{{{columns}}}",
            f"\\hline\n{top} \\\\\n\\hline\n\\endhead",
            *told,
            "\\hline\n\\end{longtable}}\n",
        ]
    )
