"""The page *Words*: what a reader who knows gradient descent, and not grokking, has to know."""

GLOSSARY = {
    "grokking": "generalisation long after memorisation: training and test error fall far apart",
    "memorisation": "a network fits its training data; t1 is the step at which it does",
    "generalisation": "it is right on data that it has not seen, from step t2 on; t2 over t1 is "
    "the delay",
    "regulariser": "a term beside the loss that prefers small parameters or Jacobians, such as the "
    "squared l2 norm, the l1 norm (few entries) or the nuclear norm (low rank); its factor is its "
    "weight; weight decay shrinks the parameters at each step, outside the loss",
    "interpolator": "parameters that fit all training data; there are many, and a regulariser "
    "chooses the one of least norm",
    "mirage": "a test error that falls late because a large start shrinks, without anything being "
    "found; where the truth is found it is a recovery",
    "alignment": "the cosine between an input and a row of the Jacobian there (the derivative of "
    "the outputs by the input), or between an input and the centroid (the sum of these rows); PC1 "
    "says how close all rows are to one common direction, which need not be the input",
    "plate": "a figure that no paper has, with a question and a prediction from before its run",
    "claim": "a statement of a paper as a number and an interval in which it has to be; its id "
    "begins with a letter for the paper",
    "interpretation": "another choice where a paper leaves one open, with runs of its own",
    "deviation": "a place where a paper and its code disagree or are silent, and what we do there",
    "control": "a run or a number that is not the one which a claim is about; if the claim accepts "
    "it too, the claim proves nothing",
    "scale": "sizes of the runs: paper are the published ones, quick smaller ones, at which most "
    "figures show the same, smoke ones for tests",
    "experiment": "a named set of runs, declared in a paper's YAML",
    "spec": "the complete description of a run; its hash is the run's id, and what is of the same "
    "spec, code and data is never trained twice",
    "run": "a training job: one case at one point of an experiment's sweep, or some of its members",
    "member": "a trajectory inside a run, of a seed and of a value of every other ensemble axis",
    "step": "an update of the parameters, never an epoch; its factor is the step size, also called "
    "learning rate: `lr` in a YAML, or `rate` of a dynamics",
    "measure": "a quantity computed after training from snapshots, parameters that were kept",
    "table": "all rows of an experiment, of what was logged (its history) and measured, each with "
    "its whole spec",
}
