# in: the tables of a figure. out: the figure, and the data it draws as csv.


rule figure:
    input:
        job="results/{scale}/figures/{paper}/{figure}.spec.json",
        files=inputs_of_figure,
    output:
        multiext(
            "results/{scale}/figures/{paper}/{figure}",
            ".pdf",
            ".png",
            ".csv",
            ".manifest.json",
        ),
    log:
        "results/{scale}/figures/{paper}/{figure}.log",
    localrule: True
    conda:
        "../../environment.yml"
    shell:
        "python -m grokatlas figure {input.job} 2> {log}"
