# Grokking Atlas: datasets -> training runs -> measures -> tables -> figures.
# This file is the table of contents; config/README.md says what can be configured.
from snakemake.utils import min_version

min_version("9.23")


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/atlas.smk"


rule all:
    default_target: True
    input:
        everything,


# local jobs share the imports of libraries, and start as soon as a core is free. Snakemake's limit of
# 100 jobs a second would make it look through all ready jobs once a second for every job that has
# ended so far: hundreds of times a second, near the end of a large plan
onstart:
    NOTIFIER.listen()
    if workflow.local_exec:
        warm.start()
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    print("figures and tables are in results, by scale", file=sys.stderr)
    NOTIFIER.ended(well=True)


# what failed shows as such in the atlas
onerror:
    unless_interrupted(NOTIFIER.ended, False)
    unless_interrupted(show_pages, SCALE)
