"""What each Snakemake rule runs."""
