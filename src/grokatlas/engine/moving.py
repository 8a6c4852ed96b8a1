"""Which parameters a step moves: what ``train.only`` says of the names of a model."""

import fnmatch

from grokatlas.errors import nearest


def names(patterns: list[str], parameters: list[str]) -> list[str]:
    """The parameters that one of the patterns matches, in the order of the model.

    Args:
        patterns: names, in which ``*`` stands for anything.
        parameters: the names of all parameters of the model.

    Raises:
        ValueError: a pattern matches none.
    """
    matched = {p: [each for each in parameters if fnmatch.fnmatchcase(each, p)] for p in patterns}
    for pattern, own in matched.items():
        if not own:
            problem = f"train.only: the model has no parameter {pattern!r}"
            raise ValueError(f"{problem}; {nearest(pattern, parameters)}")
    return [each for each in parameters if any(each in own for own in matched.values())]
