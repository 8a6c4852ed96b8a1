"""The graph of the workflow's rules as a picture: Snakemake tells the graph, this draws it.

Graphviz would draw it otherwise from version to version; the same rules give the same bytes here.
"""

import re
import subprocess
import sys
from html import escape
from pathlib import Path

from grokatlas.errors import UserError
from grokatlas.results import files

FILE = Path("images") / "rulegraph.svg"
WIDTH, HEIGHT = 124, 34  # of a box, in pixels
ACROSS, DOWN, MARGIN = 52, 30, 16  # between boxes, and around all
ALL = "all"  # the rule without a job
BULGE = 46  # how far a line that passes other columns keeps from them
STYLE = """\
  <style>
    text { font: 14px sans-serif; text-anchor: middle; fill: #1b1d21; }
    rect { fill: #f2f3f1; stroke: #0b5394; stroke-width: 1.5; }
    path { fill: none; stroke: #595d66; stroke-width: 1.5; marker-end: url(#arrow); }
    marker path { fill: #595d66; stroke: none; marker-end: none; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e8e8e4; } rect { fill: #1f2228; stroke: #8fc1ff; }
      path { stroke: #a5a9b2; } marker path { fill: #a5a9b2; }
    }
  </style>
  <marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" \
orient="auto"><path d="M0 0 8 4 0 8Z"/></marker>"""

Edge = tuple[str, str]


def main() -> str:
    """Draw the rules of the checkout in the working directory; the path of the picture.

    Raises:
        UserError: Snakemake tells no graph.
    """
    text = svg(*parsed(told()))
    FILE.parent.mkdir(exist_ok=True)
    with files.atomic(FILE) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return str(FILE)


def told() -> str:
    """What Snakemake says of the rules of scale paper, in the language of Graphviz.

    Raises:
        UserError: it fails.
    """
    command = [sys.executable, "-m", "snakemake", "--rulegraph", "--forceall"]
    done = subprocess.run(
        [*command, "--config", "scale=paper"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise UserError("snakemake --rulegraph", f"fails: {last}")
    return done.stdout


def parsed(dot: str) -> tuple[list[str], list[Edge]]:
    """Rules and arrows, sorted, of a graph in the language of Graphviz.

    Without `all`, which only names what is wanted.

    Raises:
        UserError: there is none.
    """
    labels = re.findall(r'^\s*(\d+)\s*\[\s*label = "(\w+)"', dot, re.MULTILINE)
    names = dict(labels)
    edges = re.findall(r"^\s*(\d+) -> (\d+)", dot, re.MULTILINE)
    if not names:
        raise UserError("snakemake --rulegraph", "tells no rule")
    arrows = sorted((names[a], names[b]) for a, b in edges)
    return sorted({*names.values()} - {ALL}), [arrow for arrow in arrows if ALL not in arrow]


def columns(names: list[str], edges: list[Edge]) -> list[list[str]]:
    """The rules from left to right, each behind all that it depends on."""
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for first, then in edges:
            depth[then] = max(depth[then], depth[first] + 1)
    return [[n for n in names if depth[n] == column] for column in sorted(set(depth.values()))]


def svg(names: list[str], edges: list[Edge]) -> str:
    """The picture."""
    ranks = columns(names, edges)
    places: dict[str, tuple[float, float]] = {
        name: (column * (WIDTH + ACROSS), (row - (len(rank) - 1) / 2) * (HEIGHT + DOWN))
        for column, rank in enumerate(ranks)
        for row, name in enumerate(rank)
    }
    highs = [y for _, y in places.values()]
    passed = [places[edge[0]][1] - BULGE for edge in edges if _passes(edge, ranks)]
    top, bottom = min(highs + passed) - MARGIN, max(highs) + HEIGHT + MARGIN
    wide = 2 * MARGIN + len(ranks) * (WIDTH + ACROSS) - ACROSS
    box = f"{-MARGIN} {top:g} {wide} {bottom - top:g}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" '
        'aria-label="The rules of the workflow">',
        STYLE,
        *(f'  <path d="{_line(edge, places, ranks)}"/>' for edge in edges),
    ]
    for name in names:
        x, y = places[name]
        lines += [
            f'  <rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
            f'  <text x="{x + WIDTH / 2:g}" y="{y + HEIGHT / 2 + 5:g}">{escape(name)}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def _passes(edge: Edge, ranks: list[list[str]]) -> bool:
    """Whether a line passes a column on its way."""
    first, then = (next(k for k, rank in enumerate(ranks) if name in rank) for name in edge)
    return then > first + 1


def _line(edge: Edge, places: dict[str, tuple[float, float]], ranks: list[list[str]]) -> str:
    """From the right of a box to the left of another one; above what lies between them."""
    (x, y), (to_x, to_y) = (places[name] for name in edge)
    if not _passes(edge, ranks):
        x, y, to_x, to_y = x + WIDTH, y + HEIGHT / 2, to_x - 1, to_y + HEIGHT / 2
        half = (x + to_x) / 2
        return f"M{x:g} {y:g} C{half:g} {y:g} {half:g} {to_y:g} {to_x:g} {to_y:g}"
    x, to_x, to_y = x + WIDTH / 2, to_x + WIDTH / 2, to_y - 1
    high = min(y, to_y) - BULGE
    return f"M{x:g} {y:g} C{x:g} {high:g} {to_x:g} {high:g} {to_x:g} {to_y:g}"
