"""All that is used of Snakemake and that its documentation does not promise, nothing else.

Each function names the attributes of Snakemake's ``Workflow`` that it reads; a test looks for them
in the version that is installed (`tests/unit/plan/test_snakemake_internals.py`).
"""

from pathlib import Path
from typing import Any


def is_main(workflow: Any) -> bool:
    """Tell if this process decides what runs: a job's own does not (`is_main_process`)."""
    return bool(workflow.is_main_process)


def chosen_folder(workflow: Any) -> Any:
    """The folder that ``--directory`` names, if it is given (`overwrite_workdir`)."""
    return workflow.overwrite_workdir


def configuration(workflow: Any) -> tuple[list[Path], dict[str, Any]]:
    """The files of ``--configfile``, and what ``--config`` says (`config_settings`)."""
    settings = workflow.config_settings
    return settings.configfiles, settings.config


def runs_jobs(workflow: Any) -> bool:
    """Tell if jobs are going to run (`executor_plugin`, `dryrun`, `touch`).

    They do not in a dry run, nor for a summary, a report or a graph.
    """
    plugin = workflow.executor_plugin
    return plugin is not None and not (workflow.dryrun or workflow.touch)


def runs_here(workflow: Any) -> bool:
    """Tell if jobs run on this machine (`local_exec`)."""
    return bool(workflow.local_exec)


def in_containers(workflow: Any) -> bool:
    """Tell if jobs run in the images that rules name (`deployment_settings`)."""
    chosen = workflow.deployment_settings.deployment_method
    return "apptainer" in {str(method) for method in chosen}


def start_jobs_at_once(workflow: Any) -> None:
    """Let a job start as soon as a core is free (`scheduler.job_rate_limiter`).

    Snakemake's limit of 100 jobs a second would make it look through all ready jobs once a second
    for every job that has ended so far: hundreds of times a second, near the end of a large plan.
    """
    workflow.scheduler.job_rate_limiter = None
