"""The configuration: models of its YAML files, and the checked cells that they declare."""
