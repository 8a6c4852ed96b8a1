# in: the tables of a figure. out: the figure, and the data it draws as csv.


rule figure:
    input:
        job=job_of("figures"),
        files=inputs_of("figures"),
    output:
        report(
            multiext("results/{scale}/figures/{paper}/{figure}", ".png", ".pdf"),
            category="{paper}",
            caption="../report/figure.rst",
            labels={"figure": "{figure}"},
        ),
        multiext("results/{scale}/figures/{paper}/{figure}", ".csv", ".manifest.json"),
    log:
        "results/{scale}/figures/{paper}/{figure}.log",
    wildcard_constraints:
        figure="(?!table)[a-z0-9_]+",
    priority: 1  # before runs, so that pictures come early
    localrule: "figure" in PROJECT.local_rules
    conda:
        "../../environment.yml"
    shell:
        "python -m grokatlas figure {input.job} 2> {log}"


# in: the tables of an experiment. out: a table of the paper as text, and its numbers as csv.
use rule figure as published_table with:
    output:
        report(
            "results/{scale}/figures/{paper}/{figure}.csv",
            category="{paper}",
            caption="../report/figure.rst",
            labels={"figure": "{figure}"},
        ),
        multiext("results/{scale}/figures/{paper}/{figure}", ".md", ".tex", ".manifest.json"),
    wildcard_constraints:
        figure="table[a-z0-9_]*",
    localrule: "figure" in PROJECT.local_rules
