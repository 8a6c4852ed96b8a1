# Training and what is computed from a finished run.


# in: a run's spec and its data. out: history, snapshots, manifest.
rule train:
    input:
        job=job_of("runs"),
        data=inputs_of("runs"),
    output:
        history="results/runs/{run}/history.parquet",
        snapshots="results/runs/{run}/snapshots.safetensors",
        manifest="results/runs/{run}/manifest.json",
    log:
        "results/runs/{run}/log.txt",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        gpu=gpu,
        runtime=runtime,
        mem_mb=mem_mb,
    shell:
        "exec python -m grokatlas train {input.job} --threads {threads} 2> {log}"


# in: a run and its data. out: one measure of every member.
rule measure:
    input:
        job=job_of("measures"),
        files=inputs_of("measures"),
    output:
        table="results/measures/{run}/{measure}.parquet",
        manifest="results/measures/{run}/{measure}.manifest.json",
    log:
        "results/measures/{run}/{measure}.log",
    priority: 1  # before runs, so that pictures come early
    conda:
        "../../environment.yml"
    resources:
        gpu=gpu,
        runtime=runtime,
        mem_mb=mem_mb,
    shell:
        "python -m grokatlas measure {input.job} 2> {log}"


# in: histories and measures of an experiment. out: one tidy table with these and the light measures,
# each row with its whole spec.
rule table:
    input:
        job=job_of("tables"),
        files=inputs_of("tables"),
    output:
        table="results/{scale}/tables/{paper}/{experiment}.parquet",
        manifest="results/{scale}/tables/{paper}/{experiment}.manifest.json",
    log:
        "results/{scale}/tables/{paper}/{experiment}.log",
    priority: 1  # before runs, so that pictures come early
    localrule: "table" in PROJECT.local_rules
    conda:
        "../../environment.yml"
    shell:
        "python -m grokatlas table {input.job} 2> {log}"
