"""The workflow on a Slurm cluster, and checks before it starts: submit, unlock, doctor."""
