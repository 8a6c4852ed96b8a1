"""Trial runs: an experiment with other values, in a folder of its own and in no claim."""
