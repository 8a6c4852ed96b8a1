# Loads the plan and answers, for the wildcards of a rule, which files it needs. No logic here:
# what exists and when it is remade is decided in src/grokatlas/plan.py.
import sys
from pathlib import Path

# the code beside this workflow, whatever is installed
sys.path.insert(0, str(Path(workflow.basedir) / "src"))

from grokatlas.errors import UserError
from grokatlas.plan import Project
from grokatlas.resources import of_job

try:
    PROJECT = Project(Path(workflow.basedir) / "config", config)
    PROJECT.prepare_jobs(workflow.is_main_process)
    PROJECT.at(PROJECT.settings.scale)
except UserError as error:
    print(error, file=sys.stderr)
    sys.exit(1)

SCALE = PROJECT.settings.scale
config["captions"] = PROJECT.captions  # for `snakemake --report`


report: "../report/workflow.rst"


wildcard_constraints:
    dataset="[0-9a-f]{12}",
    run="[0-9a-f]{12}",
    measure="[a-z0-9_-]+",
    scale="smoke|quick|paper",
    paper="[a-z0-9_]+",
    experiment="[a-z0-9_]+",
    figure="[a-z0-9_]+",


def everything(wildcards):
    return PROJECT.final_files(SCALE)


# An input that fits the plan is `ancient`: its time does not count (see docs/extending.md).
def files(group, key, scale=None):
    try:
        return [ancient(f) if fits else f for f, fits in PROJECT.inputs(group, key, scale)]
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(1)


def dataset_of_run(wildcards):
    return files("runs", wildcards.run)


def inputs_of_measure(wildcards):
    return files("measures", (wildcards.run, wildcards.measure))


def inputs_of_table(wildcards):
    return files("tables", (wildcards.paper, wildcards.experiment), wildcards.scale)


def inputs_of_figure(wildcards):
    return files("figures", (wildcards.paper, wildcards.figure), wildcards.scale)


def inputs_of_claims(wildcards):
    return files("claims", wildcards.scale, wildcards.scale)


def inputs_of_atlas(wildcards):
    return files("atlas", wildcards.scale, wildcards.scale)


# What a run or a measure asks of a cluster, more at each attempt (see src/grokatlas/resources.py).
def asked(wildcards, attempt):
    named = "measure" in wildcards.keys()
    key = (wildcards.run, wildcards.measure) if named else wildcards.run
    job, _ = PROJECT.job("measures" if named else "runs", key)
    return of_job(job, PROJECT.settings.device).at(attempt)


def runtime(wildcards, attempt):
    return asked(wildcards, attempt).runtime


def mem_mb(wildcards, attempt):
    return asked(wildcards, attempt).mem_mb


def gpu(wildcards):
    return asked(wildcards, 1).gpu
