"""Cases that a figure's tables have and the figure does not show."""

import warnings
from collections import Counter
from collections.abc import Callable, Sequence

import pandas as pd

from grokatlas.claims import divergence
from grokatlas.results import layout

Tables = dict[str, pd.DataFrame]
Case = tuple[str, str]  # an experiment and its case; empty for the only one


def cases(
    data_of: Callable[[Tables], pd.DataFrame],
    tables: Tables,
    data: pd.DataFrame,
    declared: Sequence[str] = (),
) -> list[str]:
    """The cases that are not drawn, but for those of which the figure says so.

    A case is drawn if the figure's data name it, or if they are others without its rows; or would
    be, if every number were there that a run may lack, such as a time that is never reached. One
    whose members all diverged has nothing to draw, and is none of these. Where nothing is drawn at
    all, nothing is left out.

    Args:
        data_of: from tables to the data that a figure of them shows.
        tables: the figure's, by experiment.
        data: what the figure shows.
        declared: names of cases that it leaves out on purpose.

    Returns:
        their names: ``experiment/case`` of a figure of several experiments.
    """
    there = [
        (experiment, case)
        for experiment, table in tables.items()
        if "case" in table
        for case in divergence.without(table)["case"].unique()
        if layout.case_of_figure(experiment, case, len(tables)) not in declared
    ]
    texts = data.select_dtypes(["object", "string", "category"])
    named = {text for column in texts for text in texts[column].unique()}
    shared = Counter(case for _, case in there)
    unsure = [each for each in there if each[1] not in named or shared[each[1]] > 1]

    for change in (_thinned, lambda table: table, _filled):  # the first is a fraction of the work
        changed = {name: change(table) for name, table in tables.items()}
        unsure = _unneeded(data_of, changed, unsure)
    if len(unsure) == len(there):
        return []
    return [layout.case_of_figure(experiment, case, len(tables)) for experiment, case in unsure]


def _unneeded(
    data_of: Callable[[Tables], pd.DataFrame], tables: Tables, group: list[Case]
) -> list[Case]:
    """The cases of a group without which a figure's data are the same; all if it has none."""
    data = _data(data_of, tables, []) if group else None
    if data is None:
        return group

    def is_needless(left_out: list[Case]) -> bool:
        others = _data(data_of, tables, left_out)
        return others is not None and _are_equal(others, data)

    return group if is_needless(group) else [case for case in group if is_needless([case])]


def _thinned(table: pd.DataFrame) -> pd.DataFrame:
    """A table with one seed's rows."""
    return table[table["seed"] == table["seed"].min()] if "seed" in table else table


def _filled(table: pd.DataFrame) -> pd.DataFrame:
    """A table with the mean of a record's column wherever a row of that record has no number."""
    if "record" not in table:
        return table
    floats = table.select_dtypes("float")
    means = floats.groupby(table["record"]).transform("mean")
    return table.assign(**floats.fillna(means))


def _data(
    data_of: Callable[[Tables], pd.DataFrame], tables: Tables, left_out: list[Case]
) -> pd.DataFrame | None:
    """The data of a figure without some cases; None where it cannot be drawn."""
    some = dict(tables)
    for name, case in left_out:
        some[name] = some[name][some[name]["case"] != case]
    try:
        with warnings.catch_warnings(action="ignore"):
            return data_of(some).reset_index(drop=True)
    except Exception:  # a figure's function may raise anything where rows are missing
        return None


def _are_equal(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    exact = {"check_dtype": False, "check_exact": True, "check_categorical": False}
    try:
        pd.testing.assert_frame_equal(one, other, **exact)
    except AssertionError:
        return False
    return True
