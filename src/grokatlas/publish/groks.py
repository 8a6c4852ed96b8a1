"""The time that each recorded setting takes to grok, for who needs a small case.

A setting groks here if it is right on the test data for good (accuracy 0.9) in twice the steps or
more in which it has fitted its training data (0.99), both medians over its seeds.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from grokatlas import text as words
from grokatlas.plan.jobs import Plan
from grokatlas.results import files, layout

if TYPE_CHECKING:
    import pandas as pd

FITTED, RIGHT, DELAY = 0.99, 0.9, 2.0
FILE = "groks.csv"
COLUMNS = (
    *("paper", "experiment", "scale", "task", "network", "setting"),
    *("seeds", "t1", "t2", "seconds", "processor"),
)
PAGE = """# Groks in n seconds

<!-- made by `grokatlas reference` from recorded/groks.csv; do not edit -->

Classifications recorded here, not in studies, that grok, by task and network, the quickest
first: for teachers, and for others who need a small case. Of each experiment the quickest setting
is here; `recorded/groks.csv` has all of them. t1 is the first logged step at which 99 percent of
the training data are right, t2 the one from which 90 percent of the test data are, both medians
over seeds; what is here needs at least twice as long. Seconds are those of one core to t2 for one
seed: processor time of the recorded run, shared among all of its updates, so that one seed by
itself may take somewhat longer. What ran on a GPU, or was stopped and went on, is left out.
`grokatlas try PAPER/EXPERIMENT --set seed=0 --scale SCALE` trains that seed of an experiment, in
all of its cases ([other values](extending.md#trying-other-values)).
"""
HEAD = ["seconds", "t1", "t2", "t2 / t1", "seeds", "experiment", "setting", "scale"]
Row = dict[str, Any]


def of_plan(plan: Plan, tables: set[Any]) -> Iterator[Row]:
    """The rows of those tables of a plan that are among `tables`."""
    for job in plan.tables.values():
        if job.target in tables:
            table = files.read_parquet(layout.outputs("table", job.target)[0])
            manifests = {
                run: files.read_json(layout.manifest_of("run", layout.run_folder(run)))
                for run in table["run"].unique()
            }
            yield from rows(table, manifests)


def rows(table: "pd.DataFrame", manifests: Mapping[str, Row]) -> Iterator[Row]:
    """A row for each setting of a table that groks.

    Args:
        table: of an experiment, with the accuracies of its history.
        manifests: of its runs, by name.
    """
    import pandas as pd

    if not {"train_accuracy", "test_accuracy", "task.name"} <= set(table):
        return  # of a log that is imported, nobody knows what it took
    history = table[table["record"] == "history"]
    steps = history.groupby(["run", "member"])["step"].max().groupby("run").sum()
    for case, part in history.groupby("case", dropna=False):
        axes = [
            name
            for name in part.columns
            if "." in name
            and "seed" not in name
            and part[name].nunique(dropna=False) > 1
            and not name.startswith(("observables.", "train.log", "train.snap"))
        ]
        for _, own in part.groupby(axes or ["case"], dropna=False):
            if (row := _row(own, manifests, steps)) is not None:
                named = [] if pd.isna(case) or not case else [words.plain(str(case))]
                values = [f"{name} {words.setting(own[name].iloc[0])}" for name in axes]
                yield row | {"setting": ", ".join([*named, *values])}


def _row(own: "pd.DataFrame", manifests: Mapping[str, Row], steps: "pd.Series") -> Row | None:
    """The times of a setting; None if it does not grok, or was not run in one go on a CPU."""
    import pandas as pd

    from grokatlas.claims import statistics

    own_manifests = [manifests[run] for run in own["run"].unique()]
    on_a_cpu = all(each.get("device", {}).get("type", "cpu") == "cpu" for each in own_manifests)
    if not on_a_cpu or any(len(each.get("segments", [])) > 1 for each in own_manifests):
        return None
    t1 = pd.Series(statistics.first(own, "train_accuracy", FITTED)).median()
    t2 = pd.Series(statistics.lasting(own, "test_accuracy", RIGHT)).median()
    if not 0 < DELAY * t1 <= t2 < float("inf"):
        return None
    costs = [manifests[run]["cpu_seconds"] / max(steps[run], 1) for run in own["run"].unique()]
    first = own.iloc[0]
    return {
        **{key: first[key] for key in ("paper", "experiment", "scale")},
        "task": first["task.name"],
        "network": first["model.name"],
        "seeds": own["seed"].nunique(),
        "t1": t1,
        "t2": t2,
        "seconds": float(f"{pd.Series(costs).median() * t2:.3g}"),
        "processor": words.machine(own_manifests[0]),
    }


def page(recorded: list[dict[str, str]]) -> str:
    """The page of recorded rows, in Markdown: the quickest one of each experiment."""
    blocks = [PAGE.rstrip()]
    by_task: dict[tuple[str, str], list[list[str]]] = {}
    for row in _quickest(recorded):
        t1, t2 = float(row["t1"]), float(row["t2"])
        cells = [_two_digits(float(row["seconds"])), f"{t1:,.0f}", f"{t2:,.0f}", f"{t2 / t1:.2g}"]
        cells += [row["seeds"], f"`{row['paper']}/{row['experiment']}`", row["setting"]]
        by_task.setdefault((row["task"], row["network"]), []).append([*cells, row["scale"]])
    for (task, network), rows in by_task.items():
        title = f"## {words.sentence(words.plain(task))}, {words.plain(network)}"
        blocks += [title, words.markdown_table(HEAD, rows).rstrip()]
    return "\n\n".join(blocks) + "\n"


def _quickest(recorded: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    """The first of each experiment by time; of experiments that share a run, the first one."""
    seen = set[tuple[str, ...]]()
    for row in sorted(recorded, key=lambda row: float(row["seconds"])):
        experiment = row["paper"], row["experiment"], row["scale"]
        times = row["task"], row["setting"], row["t1"], row["t2"], row["seconds"]
        if seen.isdisjoint({experiment, times}):
            yield row
        seen |= {experiment, times}


def _two_digits(seconds: float) -> str:
    return f"{float(f'{seconds:.2g}'):,g}"
