"""The reader of runs, of results and of the run store: ``grokatlas runs``, ``status``, ``show``."""
