# Training and what is computed from a finished run.


# in: a run's spec and its data. out: history, snapshots, manifest.
rule train:
    input:
        job=RESULTS + "/runs/{run}/spec.json",
        data=dataset_of_run,
    output:
        history=RESULTS + "/runs/{run}/history.parquet",
        snapshots=RESULTS + "/runs/{run}/snapshots.safetensors",
        manifest=RESULTS + "/runs/{run}/manifest.json",
    log:
        RESULTS + "/runs/{run}/log.txt",
    threads: 1
    resources:
        gpu=1,
    shell:
        "{PYTHON} -m grokatlas train {input.job}"
        " --out {RESULTS}/runs/{wildcards.run} --device {DEVICE} --threads {threads} 2> {log}"


# in: a run and its data. out: one measure of every member.
rule measure:
    input:
        job=RESULTS + "/measures/{run}/{measure}.spec.json",
        files=inputs_of_measure,
    output:
        table=RESULTS + "/measures/{run}/{measure}.parquet",
        manifest=RESULTS + "/measures/{run}/{measure}.manifest.json",
    log:
        RESULTS + "/measures/{run}/{measure}.log",
    shell:
        "{PYTHON} -m grokatlas measure {input.job}"
        " --out {RESULTS}/measures/{wildcards.run}/{wildcards.measure} 2> {log}"


# in: histories and measures of an experiment. out: one tidy table, each row with its whole spec.
rule table:
    input:
        job=RESULTS + "/{scale}/tables/{paper}/{experiment}.spec.json",
        files=inputs_of_table,
    output:
        table=RESULTS + "/{scale}/tables/{paper}/{experiment}.parquet",
        manifest=RESULTS + "/{scale}/tables/{paper}/{experiment}.manifest.json",
    log:
        RESULTS + "/{scale}/tables/{paper}/{experiment}.log",
    shell:
        "{PYTHON} -m grokatlas table {input.job}"
        " --out {RESULTS}/{wildcards.scale}/tables/{wildcards.paper}/{wildcards.experiment} 2> {log}"
