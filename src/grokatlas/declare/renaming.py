"""Keywords that got another name, or came later: results stay as they are.

A component's file may say ``RENAMED = {"train_fraction": "fraction"}``: the name of a keyword
today, and its oldest one. It may say ``DEFAULTED = {"epsilon": 1e-8}``: a keyword that came later,
and the value that every run before had. A YAML may use either name, and leave out such a keyword.

A spec is *canonical*: it has the oldest names, and lacks a keyword whose value is that default. So
run ids, job files, manifests and tables are those of before. `build` gets today's keywords
(`registry.load`), and figures see today's columns.
"""

import functools
from typing import Any

from grokatlas import registry
from grokatlas.code import module_shape
from grokatlas.errors import MistakeError, UserError

Spec = dict[str, Any]


@functools.cache
def older_names(block: str, name: str) -> dict[str, str]:
    """The oldest name of each keyword of a component that was renamed."""
    example = '{"train_fraction": "fraction"}'
    return dictionary(block, name, registry.RENAMED, example)


@functools.cache
def later_defaults(block: str, name: str) -> dict[str, Any]:
    """The keywords that a component got later, with the value that runs had before."""
    return dictionary(block, name, registry.DEFAULTED, '{"epsilon": 1e-8}')


def today(block: str, entry: Spec) -> Spec:
    """A component's block with today's names; an error if it has both names of a keyword."""
    keywords = dict(entry)
    for new, old in older_names(block, entry["name"]).items():
        if old in keywords and new in keywords:
            problem = f"is the older name of {new}, which is given too; remove one of them"
            raise MistakeError([old], problem)
    names = {old: new for new, old in older_names(block, entry["name"]).items()}
    return {names.get(key, key): value for key, value in keywords.items()}


def canonical(block: str, entry: Spec) -> Spec:
    """A component's block as specs have it, from one with any names."""
    older = older_names(block, entry["name"])
    later = {older.get(k, k): v for k, v in later_defaults(block, entry["name"]).items()}
    named = {older.get(key, key): value for key, value in entry.items()}
    return {k: v for k, v in named.items() if k not in later or v != later[k]}


def canonical_spec(spec: Spec) -> Spec:
    """A run's spec, or the merged values of an overlay, as specs have it."""
    blocks = {
        block: [canonical(block, each) for each in value]
        if block in registry.LISTS
        else canonical(block, value)
        for block, value in spec.items()
        if block in registry.FOLDERS and value
    }
    axes = {older_path(path, spec): axis for path, axis in spec.get("ensemble", {}).items()}
    return {**spec, **blocks, **({"ensemble": axes} if "ensemble" in spec else {})}


def older_path(path: str, values: Spec) -> str:
    """An axis of the ensemble, such as ``penalties.0.weight``, with the oldest name."""
    head, _, keyword = path.rpartition(".")
    block, entry = _entry(head, values)
    return f"{head}.{older_names(block, entry['name']).get(keyword, keyword)}" if entry else path


def path_today(path: str, values: Spec) -> str:
    """An axis of the ensemble with the name of today."""
    head, _, keyword = path.rpartition(".")
    block, entry = _entry(head, values)
    names = {old: new for new, old in older_names(block, entry["name"]).items()} if entry else {}
    return f"{head}.{names.get(keyword, keyword)}" if entry else path


def columns_today(table: Any) -> Any:
    """A table (a data frame) whose columns have today's names; the same where no name changed."""
    runs = table.drop_duplicates("run") if "run" in table else table
    for column in [each for each in table.columns if str(each).endswith(".name")]:
        head = column.removesuffix(".name")
        block = head.partition(".")[0]
        for name in runs[column].dropna().unique() if block in registry.FOLDERS else ():
            older = older_names(block, name) if registry.exists(block, name) else {}
            for new, old in older.items():
                if f"{head}.{old}" in table:
                    table = _moved(table, f"{head}.{old}", f"{head}.{new}", table[column] == name)
    return table


def _moved(table: Any, old: str, new: str, rows: Any) -> Any:
    """A table with the values of some rows in another column; an empty column goes."""
    rest = table[old].where(~rows)
    if rest.isna().all() and new not in table:
        return table.rename(columns={old: new})
    values = table[new].where(~rows, table[old]) if new in table else table[old].where(rows)
    return table.assign(**{old: rest, new: values})


def _entry(head: str, values: Spec) -> tuple[str, Spec | None]:
    """The block of a component and what it says, for the first keys of a dotted name."""
    block, _, index = head.partition(".")
    entry = values.get(block) if block in registry.FOLDERS else None
    if block in registry.LISTS:
        listed = entry if isinstance(entry, list) else []
        entry = listed[int(index)] if index.isdigit() and int(index) < len(listed) else None
    known = isinstance(entry, dict) and registry.exists(block, str(entry.get("name")))
    return block, entry if known else None


def constant(block: str, name: str, what: str, absent: Any) -> Any:
    """A constant that a component's file writes out; None for one that is computed."""
    return module_shape.constant(module_shape.syntax_tree(registry.path(block, name)), what, absent)


def dictionary(
    block: str, name: str, what: str, example: str, values: tuple[Any, ...] = ()
) -> dict[str, Any]:
    """Such a constant that is a dictionary, of some values if they are given; empty without one."""
    content = constant(block, name, what, {})
    named = isinstance(content, dict) and all(isinstance(key, str) for key in content)
    if not named or (values and not all(value in values for value in content.values())):
        place = f"{registry.shown_component(block, name)}: {what}"
        raise UserError(place, f"write out a dictionary, such as {example}")
    known: dict[str, Any] = content
    return known
