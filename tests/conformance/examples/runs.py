"""Runs in which every component takes part: member independence is tested on these."""

import ast
import copy
from collections.abc import Iterator
from typing import Any

from grokatlas import registry
from grokatlas.declare import signatures
from grokatlas.declare.checked_types import MEMBER_KINDS
from grokatlas.engine import dataset

from . import EXAMPLES, FACTS, entry, names_of


def _entries(block: str, value: Any) -> Any:
    """What a run of `runs.yaml` says of a block, as a spec says it."""
    if isinstance(value, list):
        return [_entries(block, each) for each in value]
    if block not in EXAMPLES:
        return copy.deepcopy(value)
    return entry(block, **({"use": value} if isinstance(value, str) else value))


def _run(blocks: dict[str, Any]) -> dict[str, Any]:
    shared = FACTS["every"] | FACTS["with"][blocks["with"]]
    train = {"train": shared["train"] | blocks.get("train", {})}
    whole = shared | {key: value for key, value in blocks.items() if key != "with"} | train
    return {block: _entries(block, value) for block, value in whole.items()}


# every task, model and dynamics that go together
RUNS: dict[str, dict[str, Any]] = {name: _run(blocks) for name, blocks in FACTS["runs"].items()}
MINIBATCHES: dict[str, int] = FACTS["minibatches"]
# model -> a task that it can learn
TASKS = {model: entry("task", use) for model, use in FACTS["model_tasks"].items()}


def member_keywords(spec: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """What members of a run may differ in: component and keyword, its path and its value."""
    alike = ("task", "observables", "measures")  # of all members
    blocks = [block for block in registry.FOLDERS if block not in alike]
    for path, block, each in registry.entries(spec, blocks):
        kinds = signatures.signature(block, each["name"]).keywords
        for keyword, kind in kinds.items():
            names = {node.id for node in ast.walk(kind) if isinstance(node, ast.Name)}
            if names & MEMBER_KINDS and each[keyword] is not None:
                name = f"{block}-{each['name']}-{keyword}"
                yield name, f"{path}.{keyword}", each[keyword]


def run_with(block: str, name: str, keywords: dict[str, Any]) -> dict[str, Any]:
    """A run of one member that uses a component with these keywords."""
    spec = next(run for run in RUNS.values() if name in names_of(run, block))
    own: Any = {"name": name} | keywords
    changed = {block: [own] if isinstance(spec[block], list) else own}
    changed |= {"task": TASKS[name]} if block == "model" else {}
    return spec | changed | {"ensemble": {"seed": [0]}}


def data_of(model: str) -> dataset.Dataset:
    """The data set of a task that the model can learn."""
    if model not in TASKS:
        raise LookupError(
            f"model_tasks of tests/conformance/examples/runs.yaml has no task for {model}"
        )
    return dataset.make([TASKS[model]])
