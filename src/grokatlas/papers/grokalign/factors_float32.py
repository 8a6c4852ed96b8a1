"""Table 1 by precision: updates of the baseline and of GrokAlign under cross-entropy."""

import pandas as pd

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _methods, _methods_statistics
from grokatlas.papers.grokalign._jacobians import data_named
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

PRECISIONS = {  # what an experiment and its cases end with, and what is written
    "": "float64",
    "_float32": "float32",
    "_float64_loss": "float32,\nloss in float64",
}
COLOURS = {"baseline": style.COLOURS["weight_decay"], "grokalign": style.COLOURS["grokalign"]}
ASIDE = 0.35  # of a row: how far the published factor is above its middle


def draw(tables: Tables, published: dict[str, str]) -> FigureAndData:
    """A row for each precision, a point for each seed: updates (a) and their quotient (b)."""
    made, [[left, right]] = style.figure(2, height=2.0, sharey=True)
    drawn = []
    for row, (variant, precision) in enumerate(PRECISIONS.items()):
        steps = _methods_statistics.steps(tables, "ce", "grokalign", variant)
        for method, colour in COLOURS.items():
            _methods.seeds_in_row(left, row, steps[method], colour)
        steps["ratio"] = steps["baseline"] / steps["grokalign"]
        _methods.seeds_in_row(right, row, steps["ratio"], COLOURS["grokalign"])
        precision = precision.replace("\n", " ")
        drawn.append(steps.reset_index().assign(precision=precision, origin="ours"))
    mean, low, high = _methods.printed_factor(published["ce_grokalign_steps"])
    _methods.published_in_row(right, -ASIDE, mean, low, high)
    printed = {"ratio": mean, "low": low, "high": high, "precision": "float64"}
    drawn.append(pd.DataFrame([printed | {"origin": "published"}]))
    for method, text in {"baseline": "weight decay", "grokalign": "GrokAlign"}.items():
        left.plot([], [], "o-", ms=3, color=COLOURS[method], label=text)
    _methods.key_of_rows(left)
    left.set_yticks(range(len(PRECISIONS)), PRECISIONS.values())
    data = data_named(tables["acceleration"])
    left.set(ylim=(len(PRECISIONS) - 0.5, -0.5), xlabel=f"updates ({data})")
    right.set_xlabel("weight decay / GrokAlign")
    for axes in (left, right):
        axes.set_xlim(left=0)
    style.letter(left, "a  cross-entropy: updates")
    style.letter(right, "b  their quotient")
    panels.above(made, left, ncols=4)
    return made, pd.concat(drawn, ignore_index=True)
