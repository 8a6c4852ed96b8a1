# Rules over all figures: claims and pages.


# in: the tables of every claim that the scale can judge. out: each claim with its number and verdict,
# as its paper is read for the figures and as it can be read besides.
rule claims:
    input:
        job=job_of("claims"),
        files=inputs_of("claims"),
    output:
        table=report(
            "results/{scale}/claims.csv",
            category="claims",
            caption="../report/claims.rst",
        ),
        interpretations="results/{scale}/claims.interpretations.csv",
        manifest="results/{scale}/claims.manifest.json",
    log:
        "results/{scale}/claims.log",
    localrule: "claims" in PROJECT.local_rules
    conda:
        "../../environment.yml"
    shell:
        "python -m grokatlas claims {input.job} 2> {log}"


# in: all figures and the claims. out: pages that open from disk, with copies of all they show.
rule atlas:
    input:
        job=job_of("atlas"),
        files=inputs_of("atlas"),
    output:
        index="results/{scale}/atlas/index.html",
        manifest="results/{scale}/atlas/manifest.json",
    log:
        "results/{scale}/atlas/log.txt",
    localrule: "atlas" in PROJECT.local_rules
    conda:
        "../../environment.yml"
    shell:
        "python -m grokatlas atlas {input.job} 2> {log}"
