"""An entry of the benchmark as a study: its folder, written from methods, tasks and grids."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from grokatlas import registry
from grokatlas.declare.models import EXPERIMENTS, PAPER
from grokatlas.errors import MistakeError, UserError
from grokatlas.results import files, layout
from grokatlas.study import new
from grokatlas.study.benchmark import judging, protocol
from grokatlas.study.benchmark.judging import Grids
from grokatlas.study.benchmark.protocol import Method, Protocol
from grokatlas.study.trial import declaration

PAPER_NAME = "benchmark"  # of the study's one paper
METHODS = Path("config/methods.yaml")  # all methods of the study
SETTINGS = Path("config/config.yaml")
FILES = ("Snakefile.jinja", "study.yaml.jinja", "gitignore.jinja")  # of the template of a study


def experiment(task: str, method: str) -> str:
    """The name of the experiment, and of the figure, of a method on a task."""
    return f"{task}__{method}"


def tasks_of(experiments: Iterable[str]) -> list[str]:
    """The tasks of experiments that are named so, in their order."""
    return list(dict.fromkeys(name.partition("__")[0] for name in experiments))


class Entry:
    """Methods on some tasks at a scale, with the grids so far.

    Args:
        rules: the protocol.
        methods: by name, from a file.
        tasks: names of tasks.
        scale: of the study.
        place: the file, for errors.
    """

    def __init__(
        self, rules: Protocol, methods: dict[str, Method], tasks: list[str], scale: str, place: str
    ) -> None:
        self.rules, self.methods, self.scale = rules, methods, scale
        self.grids: Grids = {}
        self.blocks: dict[tuple[str, str], dict[str, Any]] = {}
        for task in tasks:
            for name, method in methods.items():
                if (changes := method.on(task)) is None:
                    continue
                try:
                    pair = protocol.declared(rules.tasks[task], changes, scale)
                except MistakeError as mistake:
                    raise mistake.at(place, task, name) from None
                self.blocks[task, name], self.grids[task, name] = pair
        if not self.blocks:
            raise UserError(place, f"no method of it is defined on {', '.join(tasks)}")
        self.tasks = list(dict.fromkeys(task for task, _ in self.blocks))

    def texts(self) -> dict[str, str]:
        """The files of the study's paper, by name."""
        seeds = [self.rules.choose, *self.rules.judge]
        experiments: dict[str, Any] = {}
        figures: dict[str, Any] = {}
        for (task, method), blocks in self.blocks.items():
            grid, first = self.grids[task, method], self.rules.trials
            cases = {}
            for number, part in enumerate((grid.added[:first], *([n] for n in grid.added[first:]))):
                axes = {"seed": seeds, grid.path: [grid.value(each) for each in sorted(part)]}
                cases[f"further_{number}" if number else "grid"] = {**blocks, "ensemble": axes}
            name, title = experiment(task, method), self.methods[method].title
            about = f"{self.rules.tasks[task].title}, benchmark {self.rules.version}: {title}"
            experiments[name] = {"about": about, "cases": cases}
            caption = f"{about}; every trial."
            figures[name] = {"experiments": [name], "draw": "curves", "caption": caption}
        titles = ", ".join(method.title for method in self.methods.values())
        title = f"Benchmark {self.rules.version} of accelerators: {titles}"
        paper = {"source": {"title": title}, "figures": figures}
        return {PAPER: declaration.text(paper), EXPERIMENTS: declaration.text(experiments)}

    def write(self, folder: Path) -> None:
        """Write the study; its results and those of earlier grids stay.

        Raises:
            UserError: the folder holds something else.
        """
        registry.refuse_inside_package(folder)
        declared = folder / "config" / "papers" / PAPER_NAME
        if not declared.is_dir() and (folder.is_file() or any(folder.glob("*"))):
            raise UserError(str(folder), "is there and no benchmark; give a new folder")
        declared.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            text = new.filled(new.TEMPLATE / name, folder.resolve().name, PAPER_NAME)
            target = new.HIDDEN.get(name.removesuffix(new.SUFFIX), name.removesuffix(new.SUFFIX))
            files.write_text(folder / target, text)
        used = protocol.Methods(methods=self.methods).model_dump(mode="json", exclude_unset=True)
        for path, block in ((METHODS, used), (SETTINGS, {"scale": self.scale})):
            files.write_text(folder / path, declaration.text(block))
        for own, text in self.texts().items():
            files.write_text(declared / own, text)
        study = registry.study()
        if study and study != folder.resolve() and (study / "components").is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            copied = folder / "components"
            shutil.copytree(study / "components", copied, dirs_exist_ok=True, ignore=ignore)

    def trials(self) -> pd.DataFrame:
        """All trials, from the tables of the study in the working directory."""
        parts = []
        for (task, method), grid in self.grids.items():
            stem = layout.table_stem(self.scale, PAPER_NAME, experiment(task, method))
            table = pd.read_parquet(layout.beside(stem, ".parquet"))
            times = self.blocks[task, method]["measures"][0]["name"]
            parts.append(judging.trials(table, task, method, grid, times))
        return pd.concat(parts, ignore_index=True)

    def tables(self) -> list[str]:
        """The files of all trials, which `trials` reads."""
        names = (experiment(*key) for key in self.grids)
        stems = (layout.table_stem(self.scale, PAPER_NAME, name) for name in names)
        return [file.as_posix() for stem in stems for file in layout.outputs("table", stem)]

    def extend(self) -> bool:
        """Extend the grids whose best is at an end; false if none is extended."""
        before = self.grids
        self.grids = judging.extended(before, self.trials(), self.rules)
        return self.grids != before
