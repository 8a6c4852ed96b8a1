"""The tables of every declared figure at smoke scale, made in this process, and what befalls them.

A run may hold what no usual one does: these changes make such tables of usual ones.
"""

import contextlib
import functools
import itertools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from grokatlas import registry
from grokatlas.claims import divergence
from grokatlas.declare import signatures, validation, versions
from grokatlas.declare.claim_models import Claim
from grokatlas.engine.ensemble import Mapped
from grokatlas.errors import MistakeError
from grokatlas.results import layout
from grokatlas.rules import split_table, tidy_table
from tests.checkout import declared_papers, declared_plan
from tests.runs import finished

OTHERS = ("train.", "observables.", "truth")
BLOCKS = {"task", "model", "loss", "optimizer", "dynamics"}
BLOCKS |= {"penalties", "gradients", "updates", "inputs"}
KEYS = ("seed", "member", "step", "slow_time", "feature", "other", "place", "plane", "point")
KEYS += ("level", "label", "input", "target", "true_value", "threads", "members")


def figures() -> list[tuple[str, str]]:
    """Paper and name of every declared figure and published table.

    Of those of a version that are drawn by the same code from the same tables, the first alone.
    """
    pairs: dict[str, tuple[str, str]] = {}
    for name, paper in declared_papers().items():
        for figure, entry in paper.figures.items():
            tables = [layout.owner_of_table(name, each) for each in entry.experiments]
            module = versions.figure_module(name, paper, figure)
            pairs.setdefault(f"{module} {tables}", (name, figure))
    return list(pairs.values())


def claims() -> list[tuple[str, Claim]]:
    """Paper and contents of every declared claim; a shared judgement once."""
    declared = [
        (name, claim) for name, paper in declared_papers().items() for claim in paper.claims
    ]
    return [each for each in declared if not versions.same_claim(declared_papers(), *each)]


def spec(paper: str, figure: str) -> dict[str, Any]:
    """What the job file of a figure says."""
    return declared_plan("smoke").figures[paper, figure].spec


def of_figure(paper: str, figure: str) -> dict[str, pd.DataFrame]:
    """The tables of a figure, by experiment."""
    experiments = declared_papers()[paper].figures[figure].experiments
    owners = [layout.owner_of_table(paper, each) for each in experiments]
    return {name: _table(owner, name).copy() for owner, name in owners}


@functools.cache
def _table(paper: str, experiment: str) -> pd.DataFrame:
    spec = declared_plan("smoke").tables[paper, experiment].spec
    parts, names = [], []
    for cell in spec["cells"]:
        run = _run(cell["run"])
        blocks = [
            declared_plan("smoke").measures[cell["run"], name].spec["measure"]
            for name in cell["measures"]
        ]
        records = {"history": run.history}
        for block in [*blocks, *cell.get("light", [])]:
            keywords = {key: value for key, value in block.items() if key != "name"}
            measure = registry.load("measures", block["name"]).build(**keywords)
            with _untraced():
                records[block["name"]] = measure(run)
        parts.append(tidy_table.cell_rows(cell, run.spec, records))
        names.append([*records])
    return tidy_table.join(split_table.joined(spec["cells"], names, parts), spec)


@functools.cache
def _run(name: str) -> SimpleNamespace:
    """A finished run, as measures see it."""
    with _untraced():
        return finished(declared_plan("smoke").runs[name].spec)


@contextlib.contextmanager
def _untraced() -> Iterator[None]:
    """Mapped programs as they are: to trace one takes longer than the few steps of a run here."""

    def call(mapped: Mapped, *arguments: Any) -> Any:
        with torch.no_grad():
            return mapped._mapped(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Mapped, "__call__", call)
        yield


def zeroed(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Tables with the least value of one hyperparameter at 0, wherever the schema allows it."""
    for column in filter(lambda name: _may_be_zero(table, name), _hyperparameters(table)):
        least = table.groupby("case")[column].transform("min")
        yield table.assign(**{column: table[column].mask(table[column] == least, 0.0)})


def single_valued(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Tables with exactly one value of each hyperparameter that has several, 0 where allowed."""
    for column in _hyperparameters(table):
        least = table.groupby("case")[column].transform("min")
        kept = table[(table[column] == least) | table[column].isna()]
        if len(kept) < len(table):
            yield kept
            if _may_be_zero(table, column):
                yield kept.assign(**{column: kept[column].where(kept[column].isna(), 0.0)})


def single_seeded(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The first seed of a table."""
    yield table[table["seed"] == table["seed"].min()]


def diverged(value: float, every: bool) -> Any:
    """A change that puts `value` where one member of each run (or all) should have numbers."""

    def changed(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
        made = table.copy()
        last = made.groupby("run")["member"].transform("max")
        lost = (made["member"] == last) | every
        later = lost & ~(made["step"] <= 0) if "step" in made else lost
        for column in _observed(made):
            made.loc[later & made[column].notna(), column] = value
        yield made

    return changed


def stopped(first: bool) -> Any:
    """A change that ends one member of each run early, or all of them at the start."""

    def changed(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
        if "step" not in table:
            yield table
            return
        last = table["member"] == table.groupby("run")["member"].transform("max")
        end = table.groupby("run")["step"].transform("max") / 2
        late = (table["step"] > 0) if first else (last & (table["step"] > end))
        yield table[~(late & (table["record"] == "history"))]

    return changed


CHANGES = {
    "a hyperparameter of 0": zeroed,
    "one value": single_valued,
    "one seed": single_seeded,
    "a member is NaN": diverged(np.nan, False),
    "all are NaN": diverged(np.nan, True),
    "a member is infinite": diverged(np.inf, False),
    "all are infinite": diverged(np.inf, True),
    "a member stopped early": stopped(False),
    "all stopped at the start": stopped(True),
}


Seen = tuple[divergence.Members, divergence.Members, divergence.Members]


def changed(
    paper: str, figure: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, pd.DataFrame]]:
    """The tables of a figure after a change to each of them.

    What `divergence` knows of these tables, which every claim on them asks for, is computed once.
    """
    for made in _changed(paper, figure, change):
        tables = {name: table.copy() for name, (table, _) in made.items()}
        for name, (_, seen) in made.items():
            monkeypatch.setitem(divergence._FOUND, id(tables[name]), seen)
        yield tables
        monkeypatch.undo()


# the claims on a figure come one after another, each with every change
@functools.lru_cache(maxsize=2 * len(CHANGES))
def _changed(paper: str, figure: str, change: str) -> list[dict[str, tuple[pd.DataFrame, Seen]]]:
    made = list(_made(of_figure(paper, figure), change))
    different = {id(table): table for tables in made for table in tables.values()}
    seen = {key: divergence._members_of(table) for key, table in different.items()}
    return [{name: (t, seen[id(t)]) for name, t in tables.items()} for tables in made]


def _made(given: dict[str, pd.DataFrame], change: str) -> Iterator[dict[str, pd.DataFrame]]:
    made = {name: list(CHANGES[change](table)) for name, table in given.items()}
    if change in ("a hyperparameter of 0", "one value"):
        for together in itertools.zip_longest(*made.values()):  # one of each table at once
            variants = {name: v for name, v in zip(made, together, strict=True) if v is not None}
            yield given | {name: v.reset_index(drop=True) for name, v in variants.items()}
        return
    yield {name: variants[0].reset_index(drop=True) for name, variants in made.items()}


def _observed(table: pd.DataFrame) -> list[str]:
    """Columns of floating-point numbers that were logged or measured."""
    floats = [name for name in table if table[name].dtype.kind == "f" and name not in KEYS]
    spec = {name for name in floats if _component(table, name)}
    return [n for n in floats if n not in spec and not n.startswith(OTHERS)]


def _hyperparameters(table: pd.DataFrame) -> list[str]:
    """Numeric columns of the spec."""
    numeric = [name for name in table if pd.api.types.is_numeric_dtype(table[name])]
    return [name for name in numeric if _component(table, name)]


def _component(table: pd.DataFrame, column: str) -> tuple[str, str, str] | None:
    """Block, component and keyword of a column of the spec such as ``penalties.0.weight``."""
    path, _, keyword = column.rpartition(".")
    block = path.partition(".")[0]
    named = f"{path}.name"
    if block not in BLOCKS or named not in table:
        return None
    return block, str(table[named].dropna().iloc[0]), keyword


def _may_be_zero(table: pd.DataFrame, column: str) -> bool:
    block, name, keyword = _component(table, column) or ("", "", "")
    annotation = signatures.signature(block, name).keywords.get(keyword)
    if annotation is None:
        return False
    try:
        validation.check_value(annotation, 0.0, keyword)
    except MistakeError:
        return False
    return True
