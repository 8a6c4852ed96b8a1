"""The commands that Snakemake's rules run."""
