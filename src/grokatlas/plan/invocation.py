"""The plan and the scale that a call of Snakemake asks for."""

import gc
import sys
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.declare import strict_yaml
from grokatlas.errors import UserError
from grokatlas.plan import cache, snakemake_internals, which_code
from grokatlas.plan.project import Bring, Project
from grokatlas.plan.written_jobs import WrittenJobs


def opened(
    workflow: Any, config: dict[str, Any], bring: Bring
) -> tuple[Project | WrittenJobs, str]:
    """The jobs of this call, and the scale that it names.

    Returns:
        the plan of the configuration; in a job's own Snakemake, the plan that its head wrote.
    """
    which_code.refuse_unfit_path()
    gc.freeze()  # what Snakemake has imported stays: no collection needs to look at it
    base = _root(Path(workflow.basedir))
    _put_last(str(workflow.basedir))
    if not snakemake_internals.is_main(workflow):
        return WrittenJobs(base / "config", config), str(config.get("scale", ""))
    _refuse_subfolder(base, snakemake_internals.chosen_folder(workflow))
    _refuse_study_elsewhere(base)
    values, sources = overrides(config, *snakemake_internals.configuration(workflow))
    key = cache.read_sources()
    project = Project(base / "config", values, sources=sources, bring=bring, keep=True)
    cache.keep_sources(project.at(project.settings.scale).sources, key)
    project.prepare_jobs()
    gc.freeze()  # and so does the plan
    return project, project.settings.scale


def overrides(
    config: dict[str, Any], files: list[Path], line: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The keys of ``config.yaml`` that a call sets, and where each is set.

    Args:
        config: Snakemake's merged configuration.
        files: of ``--configfile``; read again, as Snakemake keeps the last of two equal keys.
        line: of ``--config``; ``null`` there is no value, as in YAML.

    Returns:
        values by key, and for each key the file or ``--config``.
    """
    values, sources = dict(config), dict.fromkeys(config, "--config")
    for file in files:
        content = strict_yaml.load(Path(file), Path(file).name)
        if not isinstance(content, dict):
            raise UserError(Path(file).name, "must be a block of keys such as `scale: quick`")
        sources |= dict.fromkeys(content.keys() - set(line), f"--configfile {Path(file).name}")
    for key, value in line.items():
        values[key] = None if value in ("null", "~") else value
        sources[key] = "--config"
    return values, sources


def _put_last(folder: str) -> None:
    """Let libraries come before the files beside a Snakefile, which Snakemake puts first."""
    if folder in sys.path:
        sys.path.append(sys.path.pop(sys.path.index(folder)))


def _root(base: Path) -> Path:
    """The folder of ``config``: that of the Snakefile, or the one above its folder ``workflow``."""
    above = base.name == "workflow" and not (base / "config").is_dir()
    return base.parent if above else base


def _refuse_study_elsewhere(base: Path) -> None:
    """Jobs find the modules of a study in the folder in which they run."""
    here = Path.cwd().resolve()
    if (base / registry.STUDY).is_file() and base.resolve() != here:
        problem = f"is not the study's folder {base}, so its components would not be found"
        raise UserError(str(here), f"{problem}; start Snakemake there, without --directory")


def _refuse_subfolder(base: Path, chosen: Any) -> None:
    """A call from a folder inside the checkout would begin a second tree of results there."""
    here = Path.cwd().resolve()
    if chosen is None and base.resolve() in here.parents:
        problem = "is inside the checkout, so results would begin anew here"
        hint = f"start Snakemake in {base}, or give --directory"
        raise UserError(str(here), f"{problem}; {hint}")
