# in: the tables of a figure. out: the figure, and the data it draws as csv.


rule figure:
    input:
        job=RESULTS + "/{scale}/figures/{paper}/{figure}.spec.json",
        files=inputs_of_figure,
    output:
        multiext(
            RESULTS + "/{scale}/figures/{paper}/{figure}",
            ".pdf",
            ".png",
            ".csv",
            ".manifest.json",
        ),
    log:
        RESULTS + "/{scale}/figures/{paper}/{figure}.log",
    shell:
        "{PYTHON} -m grokatlas figure {input.job}"
        " --out {RESULTS}/{wildcards.scale}/figures/{wildcards.paper}/{wildcards.figure} 2> {log}"
