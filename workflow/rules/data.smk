# in: the task of a run. out: its training and test data. Synthetic data are drawn from a seed; image
# files come from the folder `data_dir` or are fetched once, and are used only under their sha256.


rule dataset:
    input:
        job=job_of("datasets"),
    output:
        data="results/data/{dataset}/data.safetensors",
        manifest="results/data/{dataset}/manifest.json",
    log:
        "results/data/{dataset}/log.txt",
    conda:
        "../../environment.yml"
    resources:
        runtime=10,
        mem_mb=2000,
    shell:
        "python -m grokatlas dataset {input.job} 2> {log}"
