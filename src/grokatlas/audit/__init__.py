"""The audit of a results tree: verify, explain, diff, accept. No torch, no Snakemake, no pickle."""
