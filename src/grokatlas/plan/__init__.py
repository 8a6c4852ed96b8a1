"""From cells to jobs: what is to be made, and what of it is up to date."""
