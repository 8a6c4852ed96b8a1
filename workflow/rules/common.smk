# Loads the plan and answers, for the wildcards of a rule, which files it needs. No logic here:
# what exists and when it is remade is decided in src/grokatlas/plan/project.py.
import os
import sys
from functools import partial
from pathlib import Path

# in a checkout the code beside this workflow, whatever is installed
CODE = Path(str(workflow.current_basedir)).parents[1] / "src"
if CODE.is_dir():
    sys.path.insert(0, str(CODE))

from grokatlas.errors import UserError
from grokatlas.plan import snakemake_internals
from grokatlas.plan.failures import Failures
from grokatlas.plan.invocation import opened
from grokatlas.plan.resources import of_job
from grokatlas.rules.jobs import fork_server
from grokatlas.rules.partial import show_pages
from grokatlas.run_store.store import bring_missing

# reads config/config.yaml, and over it what `--config` and `--configfile` give
try:
    PROJECT, SCALE = opened(workflow, config, bring_missing)
except UserError as error:
    print(error, file=sys.stderr)
    sys.exit(1)

FAILURES = Failures()
# for `snakemake --report`; a copy, as the configuration may be that of a workflow that uses this one
config = {**config, "captions": PROJECT.captions}


report: "../report/workflow.rst"


# under `--sdm apptainer` every job runs in it; `container` of config/config.yaml names one
container: os.environ.get("GROKATLAS_CONTAINER")


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


# What the plan answers; a mistake is one line instead of Snakemake's traceback.
def answer(question, *arguments):
    try:
        return question(*arguments)
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(1)


# An `ancient` file's date does not count: all but what is stale (see docs/extending.md).
def asked_of_plan(question, *key):
    found = answer(partial(question, runs=snakemake_internals.runs_jobs(workflow)), *key)
    return [ancient(f) if undated else f for f, undated in found]


def job_file(*key):
    (file,) = asked_of_plan(lambda *k, runs: [PROJECT.job_file(*k, runs=runs)], *key)
    return file


def files(*key):
    return asked_of_plan(PROJECT.inputs, *key)


# What the plan calls a job, by the wildcards of its rule.
KEYS = {
    "datasets": lambda w: (w.dataset,),
    "runs": lambda w: (w.run,),
    "measures": lambda w: ((w.run, w.measure),),
    "tables": lambda w: ((w.paper, w.experiment), w.scale),
    "figures": lambda w: ((w.paper, w.figure), w.scale),
    "claims": lambda w: (w.scale, w.scale),
    "atlas": lambda w: (w.scale, w.scale),
}


def job_of(group):
    return lambda wildcards: job_file(group, *KEYS[group](wildcards))


def inputs_of(group):
    return lambda wildcards: files(group, *KEYS[group](wildcards))


# What a run or a measure asks of a cluster, more at each attempt (see src/grokatlas/plan/resources.py).
def asked(wildcards, attempt):
    named = "measure" in wildcards.keys()
    key = (wildcards.run, wildcards.measure) if named else wildcards.run
    job, _ = answer(PROJECT.job, "measures" if named else "runs", key)
    return answer(of_job, job, PROJECT.device).at(attempt)


def runtime(wildcards, attempt):
    return asked(wildcards, attempt).runtime


def mem_mb(wildcards, attempt):
    return asked(wildcards, attempt).mem_mb


def gpu(wildcards):
    return asked(wildcards, 1).gpu
