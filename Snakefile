# Grokking Atlas: datasets -> training runs -> measures -> tables -> figures.
# This file is the table of contents; config/README.md says what can be configured.
from snakemake.utils import min_version

min_version("9.23")


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/figures.smk"


rule all:
    input:
        all_figures,
    default_target: True


onsuccess:
    print(f"figures and tables are in {RESULTS}/{SCALE}", file=sys.stderr)
