"""The check of a merged cell of an experiment, which gives the specs of its runs."""

import ast
import math
from typing import Any, NoReturn

from grokatlas import registry
from grokatlas.declare import (
    history_columns,
    joined,
    overlays,
    references,
    renaming,
    run_shares,
    signatures,
    snapshots,
    train_rules,
    unfit,
)
from grokatlas.declare.checked_types import MEMBER_KINDS, SeedInt, fits
from grokatlas.declare.models import Train
from grokatlas.declare.run_shares import Cell
from grokatlas.declare.validation import check_block, check_keywords, check_value
from grokatlas.engine import members
from grokatlas.errors import MistakeError, nearest, shown

BLOCKS = ("task", "model", "loss", "optimizer", "dynamics")
PLANNED_BY = {"task": "size", "model": "parameters"}  # what a component's file must have beside
AXES = (*BLOCKS[1:], "penalties", "gradients", "updates", "inputs")


class Checker:
    """Checks one merged cell; an error names the overlay that holds the mistake."""

    def __init__(self, where: overlays.Overlays) -> None:
        self.overlays = where
        self.joined: list[list[str]] = []  # paths of each joined axis

    def cell(self, case: str, label: str, values: dict[str, Any]) -> Cell:
        """The checked cell of merged values."""
        values = {"dynamics": {"name": registry.DEFAULT_DYNAMICS}, **values}
        self._check_used_blocks(values)
        values = references.resolved(self._today(values), self.fail)
        train = self._train(values)
        dynamics = values["dynamics"]["name"]
        if "batch_size" in train and signatures.defines("dynamics", dynamics, "FULL_BATCH"):
            problem = f"{dynamics} takes the whole training set at each step; remove it"
            self.fail(["train", "batch_size"], problem)
        self._check_loss_dtype(train, dynamics)
        axes = self._axes(values)
        spec: dict[str, Any] = {"ensemble": axes, "train": train}
        for block in BLOCKS:
            if block in values:
                spec[block] = self.component(block, [block], values[block], axes)
        for block in registry.LISTS:
            spec[block] = [
                self.component(block, [block, str(index)], entry, axes)
                for index, entry in enumerate(values.get(block, []))
            ]
        self._check_settled(dynamics, spec)
        measures = spec.pop("measures")
        self.check_listed_once(measures)
        for check in (history_columns.why_not, unfit.why_not):
            if reason := check(spec, measures):
                self.fail(*reason)
        cleaned = {key: spec[key] for key in sorted(spec) if spec[key] != []}
        for rule in (train_rules.why_not_span, train_rules.why_not_only):
            if reason := rule(cleaned):
                self.fail(*reason)
        cleaned = renaming.canonical_spec(cleaned)
        groups = [[renaming.older_path(path, values) for path in each] for each in self.joined]
        cleaned["ensemble"] = joined.again(cleaned["ensemble"], groups)
        measures = [renaming.canonical("measures", each) for each in measures]
        return self.divided(case, label, cleaned, measures, values)

    def divided(
        self,
        case: str,
        label: str,
        spec: dict[str, Any],
        measures: list[dict[str, Any]],
        values: dict[str, Any],
    ) -> Cell:
        """The cell of a spec, whose members share runs as the values say."""
        listed = members.axes(spec)
        members_per_run, run_first = (
            {renaming.older_path(path, values): n for path, n in values.get(key, {}).items()}
            for key in run_shares.KEYS
        )
        if reason := run_shares.why_not(listed, members_per_run, run_first):
            self.fail(*reason)
        parts = run_shares.parts(spec, members_per_run, run_first)
        return Cell(case, label, spec, measures, parts, run_shares.left_out(listed, run_first))

    def _today(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values with today's names of keywords, and joined axes as axes by themselves."""
        blocks: dict[str, Any] = {}
        for block in (each for each in registry.FOLDERS if values.get(each)):
            listed = block in registry.LISTS
            entries = []
            for index, entry in enumerate(values[block] if listed else [values[block]]):
                path = [block, str(index)] if listed else [block]
                self._name(block, path, entry)
                try:
                    entries.append(renaming.today(block, entry))
                except MistakeError as mistake:
                    raise self._error(path, mistake) from None
            blocks[block] = entries if listed else entries[0]
        axes: dict[str, Any] = {}
        for name, axis in self.flat_axes(values).items():
            new = renaming.path_today(name, values)
            if new in axes:
                self.fail(["ensemble", name], f"two names of one axis ({new}); remove one")
            axes[new] = axis
        self.joined = [[renaming.path_today(old, values) for old in group] for group in self.joined]
        return {**values, **blocks, "ensemble": axes}

    def flat_axes(self, values: dict[str, Any]) -> dict[str, Any]:
        """The axes of the ensemble by path; those that are joined are remembered."""
        ensemble = values.get("ensemble", {})
        if reason := joined.why_not(ensemble):
            self.fail(["ensemble", *reason[0]], reason[1])
        self.joined = joined.paths(ensemble)
        return joined.flat(ensemble)

    def _check_loss_dtype(self, train: dict[str, Any], dynamics: str) -> None:
        """A precision of the loss alone needs a run in another one, and a loss that trains."""
        place = ["train", "loss_dtype"]
        if train.get("loss_dtype") == train["dtype"]:
            problem = f"the whole run is in {train['dtype']} (train.dtype) already; remove it"
            self.fail(place, f"{problem}, or write dtype: float32")
        if "loss_dtype" in train and not signatures.defines("dynamics", dynamics, "LEARNS_BY_LOSS"):
            by_loss = signatures.that_define("dynamics", "LEARNS_BY_LOSS")
            problem = f"dynamics {dynamics} has an equation of its own, not the loss's gradient"
            self.fail(place, f"{problem}; remove it (allowed with: {', '.join(by_loss)})")

    def _check_settled(self, dynamics: str, spec: dict[str, Any]) -> None:
        """An equation with a model of its own does not read that model's keywords."""
        for keyword, value in signatures.settled(dynamics).items():
            place, axis = ["model", keyword], f"model.{keyword}"
            values = [spec.get("model", {}).get(keyword, value)]
            if axis in spec["ensemble"]:
                place, values = ["ensemble", axis], spec["ensemble"][axis]
            for other in values:
                if other != value:
                    problem = f"{other} is not read by dynamics {dynamics}, whose equation has"
                    self.fail(place, f"{problem} {value}; write {value}")

    def check_listed_once(self, measures: list[dict[str, Any]]) -> None:
        """Refuse a measure that is listed twice."""
        names = [measure["name"] for measure in measures]
        for index, name in enumerate(names):
            if name in names[:index]:
                problem = f"{name} is listed twice; a table identifies measures by name: remove one"
                self.fail(["measures", str(index), "name"], problem)

    def _check_used_blocks(self, values: dict[str, Any]) -> None:
        name = self._name("dynamics", ["dynamics"], values["dynamics"])
        used = {"task", *signatures.signature("dynamics", name).blocks}
        for block in ("task", *AXES):
            if block in used and block not in values and block not in registry.LISTS:
                hint = nearest("", registry.names(block))
                problem = f"missing; name one in a block ({hint})"
                self.fail([block], problem)
            if values.get(block) and block not in {*used, "dynamics"}:
                problem = f"dynamics {name} does not use it; remove it, or undo it with null"
                self.fail([block], problem)

    def _train(self, values: dict[str, Any]) -> dict[str, Any]:
        try:
            train: Train = check_block(Train, values.get("train", {}))
            taken = snapshots.steps(train.snapshots, train.steps)
        except MistakeError as mistake:
            raise self._error(["train"], mistake) from None
        shuffle = {"shuffle": True} if train.batch_size and train.shuffle is None else {}
        return {**train.model_dump(exclude_none=True), **shuffle, "snapshots": taken}

    def _axes(self, values: dict[str, Any]) -> dict[str, list[Any]]:
        """The ensemble's axes, checked; the seed last."""
        axes = dict(values.get("ensemble", {}))
        seeds = self.seeds(axes.pop("seed", 1))
        ordered = sorted(axes, key=lambda path: renaming.older_path(path, values))
        checked = {path: self._axis(path, axes[path], values) for path in ordered}
        return self.counted({**checked, "seed": seeds})

    def counted(self, axes: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """The axes, which list no value twice and make no more members than are allowed."""
        paths = [path for group in self.joined for path in group]
        for path, axis in axes.items():
            if path not in paths and any(axis.count(value) > 1 for value in axis):
                self.fail(["ensemble", path], "a value is listed twice; remove one")
        alone = axes.keys() - {path for group in self.joined for path in group[1:]}
        count = math.prod(len(axes[path]) for path in alone)
        if count > overlays.MOST:
            self.fail(["ensemble"], f"makes {count} members; at most {overlays.MOST}")
        return axes

    def seeds(self, seeds: Any) -> list[int]:
        """The seeds of `ensemble`, from their number or a list."""
        place = ["ensemble", "seed"]
        if type(seeds) is int and 1 <= seeds <= overlays.MOST:
            return list(range(seeds))
        if not isinstance(seeds, list) or not seeds or not fits(list[SeedInt], seeds):
            allowed = f"a number of seeds (1 to {overlays.MOST}) or a list of seeds (0 to 2^32 - 1)"
            self.fail(place, f"{shown(seeds)} is not allowed: give {allowed}")
        return seeds

    def _axis(self, path: str, axis: Any, values: dict[str, Any]) -> list[Any]:
        place = ["ensemble", path]
        name, annotation = self._varied(path, values)
        if not isinstance(axis, list) or not axis:
            self.fail(place, f"{shown(axis)} is not allowed: give a list of at least one value")
        kinds = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
        program = f"members cannot differ in this keyword of {name}; use a sweep or cases"
        if not kinds & MEMBER_KINDS:
            self.fail(place, program)
        try:
            checked = [check_value(annotation, value, path) for value in axis]
        except MistakeError as mistake:
            raise self.overlays.error(self._at(place), mistake.problem) from None
        if any(value is None or isinstance(value, str | bool) for value in checked):
            self.fail(place, program)
        lengths = {len(value) if isinstance(value, list) else 0 for value in checked}
        if len(lengths) > 1:
            self.fail(place, "the vectors differ in length, so members cannot share a shape")
        return checked

    def _varied(self, path: str, values: dict[str, Any]) -> tuple[str, ast.expr]:
        """The component and the annotation of the keyword that an ensemble axis varies."""
        place = ["ensemble", path]
        block, *where, keyword = path.split(".") if "." in path else ("", path)
        if block not in AXES:
            if block == "task":
                self.fail(place, "members share the task; use a sweep, or set its seed to `member`")
            hint = nearest(block or path, ["seed", *AXES])
            self.fail(place, f"not an axis of members; {hint}")
        if not values.get(block):
            self.fail(place, f"there is no block {block} here; add it or remove the axis")
        entry = values[block]
        if block in registry.LISTS:
            index = int(where[0]) if len(where) == 1 and where[0].isdigit() else len(entry)
            if index >= len(entry):
                problem = f"no such entry of {block} (it has {len(entry)})"
                self.fail(place, f"{problem}; write {block}.0.{keyword} for the first")
            entry = entry[index]
        elif where:
            self.fail(place, f"no such keyword; write {block}.{keyword}")
        name = self._name(block, [block, *where], entry)
        keywords = signatures.signature(block, name).keywords
        if keyword not in keywords:
            self.fail(place, f"not a keyword of {name}; {nearest(keyword, list(keywords))}")
        return name, keywords[keyword]

    def component(
        self, block: str, path: list[str], entry: Any, axes: dict[str, Any]
    ) -> dict[str, Any]:
        """A component's block at a path, checked, without the keywords that axes give."""
        name = self._name(block, path, entry)
        prefix = ".".join(path) + "."
        varied = {axis.removeprefix(prefix) for axis in axes if axis.startswith(prefix)}
        for keyword in varied & entry.keys():
            if self.overlays.is_as_strong(
                [*path, keyword], self._at(["ensemble", prefix + keyword])
            ):
                problem = f"is never used, as ensemble has the axis {prefix}{keyword}; keep one"
                self.fail([*path, keyword], problem)
        all_keywords = renaming.later_defaults(block, name) | registry.keywords(entry)
        keywords = {k: v for k, v in all_keywords.items() if k not in varied}
        try:
            checked = check_keywords(block, name, keywords, varied)
        except MistakeError as mistake:
            raise self._error(path, mistake) from None
        return {"name": name} | checked

    def _name(self, block: str, path: list[str], entry: Any) -> str:
        if not isinstance(entry, dict) or "name" not in entry:
            self.fail(path, f"must be a block with a name; {nearest('', registry.names(block))}")
        name = entry["name"]
        if not isinstance(name, str) or not registry.exists(block, name):
            hint = nearest(str(name), registry.names(block))
            self.fail([*path, "name"], f"no component {shown(name)} in {block}; {hint}")
        needed = PLANNED_BY.get(block, "")
        if needed and not signatures.defines(block, name, needed):
            file = registry.shown_component(block, name)
            problem = f"{file} has no function `{needed}`, which plans need; add one"
            self.fail([*path, "name"], f"{problem} (docs/extending.md)")
        return name

    def fail(self, path: list[str], problem: str) -> NoReturn:
        """Refuse a value, at the overlay that holds it."""
        raise self.overlays.error(self._at(path), problem)

    def _at(self, path: list[str]) -> list[str]:
        """A path as overlays have it: an axis that is joined is in `zip`."""
        for index, group in enumerate(self.joined):
            if path[:1] == ["ensemble"] and path[1:2] and path[1] in group:
                return ["ensemble", members.ZIP, str(index), *path[1:]]
        return path

    def _error(self, path: list[str], mistake: MistakeError) -> Exception:
        """A mistake below a block; a missing keyword belongs beside the component's name."""
        beside = [*path, "name"] if mistake.missing and path != ["train"] else None
        return self.overlays.error([*path, *mistake.path], mistake.problem, beside)
