"""Studies outside this checkout: how one is made and checked, and what a notebook calls."""
