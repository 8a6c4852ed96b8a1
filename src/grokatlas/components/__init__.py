"""Components that a spec may name: one file each, whose name is the name in the YAML."""
