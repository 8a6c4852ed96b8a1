"""Numbers of the paper's statements, each from the tables of one figure, one for each seed.

Most are imported from the modules that also serve the figures.
"""

from collections.abc import Mapping

import pandas as pd

from grokatlas.papers.grokalign import _jacobians_statistics, _methods_statistics
from grokatlas.papers.grokalign._budget_statistics import (
    distance_at_one_budget,
    distance_from_row,
)
from grokatlas.papers.grokalign._causes_statistics import (
    aligned_and_accurate,
    alignment_gone,
    centroid_over_jacobian,
    end_over_extreme,
    end_over_its_value,
    flatness,
    largest,
    order_of_methods,
    rows_and_accuracy,
)
from grokatlas.papers.grokalign._controls import (
    learning_rate_doubled,
    methods_turned,
    without_grokalign,
)
from grokatlas.papers.grokalign._jacobians_statistics import (
    alignment_against_scale,
    change_while_learning,
    cosines,
    extreme_alignments,
    final,
    final_difference,
    final_over_step,
    final_ratio,
    generalisation,
    generalisation_ratio,
    mean_cosines,
    probe_alignment_ratio,
    rank_one_share,
    rise_of_cosines,
    robust_after_right,
    robust_from,
    robust_from_ratio,
    start_of_learning,
    trend,
)
from grokatlas.papers.grokalign._methods_statistics import (
    correlation_of_hours,
    costliest_over_next,
    percent_ahead,
    percent_right,
    row_alignment,
    row_alignment_over_baseline,
    times_fewer,
    times_more,
)
from grokatlas.papers.grokalign._theorems_statistics import (
    distance_from_points,
    grown_kernel,
    radius_over_baseline,
    rate_against_norm,
    reached_ratio,
    row_ratio,
    share_that_hold,
    step_over_point,
    theorem_9,
    theorem_9_at_first,
    update_cost,
    weakest_outputs_over_weights,
)

Tables = Mapping[str, pd.DataFrame]


def saving_of_precision(tables: Tables, loss: str, method: str, variant: str) -> list[float]:
    """The baseline's steps over a method's: of the cases in another precision, over float64's.

    Args:
        tables: of table 1.
        loss: what its cases begin with.
        method: what follows in its case.
        variant: what the cases in the other precision end with, such as ``_float32``.
    """
    two = (tables["acceleration"], tables["update_time"])
    other, double = (
        _methods_statistics.ratios(*two, loss, method, variant=each)["steps"]
        for each in (variant, "")
    )
    return (other / double).tolist()


def likeness_ratio(tables: Tables) -> list[float]:
    """The mean size of figure 6's cosines, GrokAlign over weight decay alone, seed by seed."""
    rows = _jacobians_statistics.last_images(tables["delayed_robustness"])
    sizes = rows.assign(size=rows["alignment"].abs()).groupby(["case", "seed"])["size"].mean()
    cases = sizes.unstack("case").reindex(columns=["grokalign", "weight_decay"])
    return (cases["grokalign"] / cases["weight_decay"]).tolist()
