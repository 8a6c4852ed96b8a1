# in: the task of a run. out: its training and test data. Synthetic data are drawn from a seed.


rule dataset:
    input:
        job=RESULTS + "/data/{dataset}/spec.json",
    output:
        data=RESULTS + "/data/{dataset}/data.safetensors",
        manifest=RESULTS + "/data/{dataset}/manifest.json",
    log:
        RESULTS + "/data/{dataset}/log.txt",
    shell:
        "{PYTHON} -m grokatlas dataset {input.job} --out {RESULTS}/data/{wildcards.dataset} 2> {log}"
