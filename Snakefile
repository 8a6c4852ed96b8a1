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


# local jobs share the imports of libraries, and start as soon as a core is free
onstart:
    FAILURES.listen()
    if snakemake_internals.runs_here(workflow):
        if not snakemake_internals.in_containers(workflow):
            fork_server.start()
        snakemake_internals.start_jobs_at_once(workflow)


onsuccess:
    print("figures and tables are in results, by scale", file=sys.stderr)


# why jobs failed is said under `--quiet` too; what failed shows as such in the atlas
onerror:
    print(*FAILURES.lines(), sep="\n", file=sys.stderr, flush=True)
    show_pages(SCALE)
