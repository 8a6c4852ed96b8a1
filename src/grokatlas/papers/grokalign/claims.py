"""Numbers of the paper's statements, each from the tables of one figure, one for each seed.

Most are imported from the modules that also serve the figures.
"""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _jacobians_statistics, _methods_statistics
from grokatlas.papers.grokalign._budget_statistics import *
from grokatlas.papers.grokalign._causes_statistics import *
from grokatlas.papers.grokalign._controls import *
from grokatlas.papers.grokalign._jacobians_statistics import *
from grokatlas.papers.grokalign._methods_statistics import *
from grokatlas.papers.grokalign._theorems_statistics import *


def saving_of_precision(tables: Tables, loss: str, method: str, variant: str) -> list[float]:
    """The baseline's steps over a method's: of the cases in another precision, over float64's.

    Args:
        tables: of table 1, in float64 and in the other precision.
        loss: what its cases begin with.
        method: what follows in its case.
        variant: of the other precision, as for `steps`.
    """
    both = [_methods_statistics.steps(tables, loss, method, end) for end in (variant, "")]
    factor, in_float64 = (steps["baseline"] / steps[method] for steps in both)
    return (factor / in_float64).tolist()


def likeness_ratio(tables: Tables, experiment: str) -> list[float]:
    """The mean size of figure 6's cosines, GrokAlign over weight decay alone, seed by seed.

    Args:
        tables: of figure 6.
        experiment: one of them.
    """
    rows = _jacobians_statistics.last_images(tables[experiment])
    sizes = rows.assign(size=rows["alignment"].abs()).groupby(["case", "seed"])["size"].mean()
    cases = sizes.unstack("case").reindex(columns=["grokalign", "weight_decay"])
    return (cases["grokalign"] / cases["weight_decay"]).tolist()
