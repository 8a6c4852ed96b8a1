"""What the checkout plans now, at every scale, without writing anything."""

from pathlib import Path
from typing import Any

from grokatlas import cells, digest, store
from grokatlas.config import SCALES
from grokatlas.plan import Job, Project, make_plan

CONFIG = Path("config")


def jobs(folder: Path = CONFIG) -> dict[str, Job] | None:
    """Every declared job of every paper and scale, upstream first, by target.

    Args:
        folder: the configuration; None is returned where it has no ``config.yaml``.

    Raises:
        UserError: for a mistake in the configuration.
    """
    if not (folder / "config.yaml").is_file():
        return None
    project = Project(folder, {"papers": "all"}, warn=lambda text: None)
    found: dict[str, Job] = {}
    for scale in SCALES:
        for job in make_plan(project.papers, scale).jobs:
            found.setdefault(job.target.as_posix(), job)
    return found


def scale(folder: Path = CONFIG) -> str | None:
    """The scale that ``config.yaml`` names, if there is one."""
    if not (folder / "config.yaml").is_file():
        return None
    return Project(folder, {}, warn=lambda text: None).settings.scale


def home(content: dict[str, Any]) -> str | None:
    """The target that a manifest or job file is about; None for a kind unknown here."""
    spec = content["spec"]
    try:
        if content["kind"] == "dataset":
            return store.data_folder(digest.of(spec)[:12]).as_posix()
        if content["kind"] == "run":
            return store.run_folder(digest.of(spec)[:12]).as_posix()
        if content["kind"] == "measure":
            runs = [name for name in content["inputs"] if name.split("/")[1] == "runs"]
            name = cells.measure_id(spec["measure"])
            return store.measure_stem(runs[0].split("/")[2], name).as_posix()
        if content["kind"] == "table":
            stem = store.table_stem(spec["scale"], spec["paper"], spec["experiment"])
            return stem.as_posix()
        if content["kind"] == "figure":
            return store.figure_stem(spec["scale"], spec["paper"], spec["figure"]).as_posix()
    except (KeyError, IndexError, TypeError, AttributeError):
        return ""
    return None


def changed_modules(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """The modules whose code differs, sorted."""
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
