"""Runs that the engine does not train: logs that are imported, and scripts that write one."""
