"""``grokatlas runs``: the runs of results and of the run store, found by what they are."""
