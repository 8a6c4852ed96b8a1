"""LaTeX of the Markdown that reports have: headings, paragraphs, lists, tables, code and links."""

import itertools
import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

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
PARTS = {  # of a document, by what the parser calls them
    "softbreak": " ",
    "strong_open": r"\textbf{",
    "em_open": r"\emph{",
    **dict.fromkeys(("strong_close", "em_close", "link_close", "th_close"), "}"),
    "heading_close": "}\n\n",
    "bullet_list_open": "\\begin{itemize}\n\\itemsep0pt\\parskip0pt\n",
    "bullet_list_close": "\\end{itemize}\n\n",
    "ordered_list_open": "\\begin{enumerate}\n\\itemsep0pt\\parskip0pt\n",
    "ordered_list_close": "\\end{enumerate}\n\n",
    "list_item_open": r"\item ",
    "list_item_close": "\n",
    "tr_close": " \\\\\n",
    "thead_open": "\\hline\n",
    "thead_close": "\\hline\n\\endhead\n",
    "table_close": "\\hline\n\\end{longtable}}\n\n",
}
PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")


def document(markdown: str) -> str:
    """A whole document."""
    return HEAD + "".join(_latex(PARSER.parse(markdown))) + "\\end{document}\n"


def escaped(text: str) -> str:
    """A text without markup, with every character that LaTeX would take for its own escaped."""
    return "".join(SPECIAL.get(each, each) for each in text)


def _latex(tokens: Sequence[Token]) -> Iterator[str]:
    for place, token in enumerate(tokens):
        if token.type == "inline":
            yield from _latex(token.children or [])
        elif token.type == "text":
            yield escaped(token.content)
        elif token.type == "code_inline":
            yield f"\\texttt{{{escaped(token.content)}}}"
        elif token.type == "code_block":
            lines = (f"\\texttt{{{escaped(line)}}}" for line in token.content.splitlines())
            yield "\\begin{flushleft}\n" + "\\\\\n".join(lines) + "\n\\end{flushleft}\n\n"
        elif token.type == "link_open":
            url = re.sub(r"([%#_&\\])", r"\\\1", str(token.attrs["href"]))
            yield f"\\href{{{url}}}{{"
        elif token.type == "heading_open":
            yield f"\\{LEVELS[min(int(token.tag[1]), len(LEVELS)) - 1]}{{"
        elif token.type == "paragraph_close":
            yield "" if token.hidden else "\n\n"
        elif token.type == "table_open":
            yield f"{{\n\\begin{{longtable}}{{{_columns(tokens[place:])}}}\n"
        elif token.type in ("th_open", "td_open"):
            yield " & " * (tokens[place - 1].type != "tr_open")
            yield r"\textbf{" * (token.type == "th_open")
        else:
            yield PARTS.get(token.type, "")


def _columns(tokens: Sequence[Token]) -> str:
    """The columns of a table, as wide as their texts want, within the width of a page."""
    table = [*itertools.takewhile(lambda token: token.type != "table_close", tokens)]
    count = sum(token.type == "th_open" for token in table)
    sizes = [min(len(token.content), 60) for token in table if token.type == "inline"]
    longest = [max(4, *sizes[column::count]) for column in range(count)]
    room = 0.98 - 0.015 * count
    widths = (room * each / sum(longest) for each in longest)
    return "".join(f">{{\\raggedright\\arraybackslash}}p{{{w:.3f}\\linewidth}}" for w in widths)
