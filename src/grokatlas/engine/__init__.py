"""Training: spec and arrays in, history and snapshots out. It knows no file and no plan."""
