"""What a YAML file may say, and the checked cells that it declares."""
