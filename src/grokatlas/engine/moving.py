"""Parameters of a model that patterns name, as ``train.only`` does."""

import fnmatch

from grokatlas.errors import nearest


def names(patterns: list[str], parameters: list[str], keyword: str) -> list[str]:
    """The parameters that one of the patterns matches, in the order of the model.

    Args:
        patterns: names, in which ``*`` stands for anything.
        parameters: the names of all parameters of the model.
        keyword: of the patterns, for the error.

    Raises:
        ValueError: there is no pattern, or one matches none.
    """
    for pattern in patterns or [""]:
        if not any(fnmatch.fnmatchcase(name, pattern) for name in parameters):
            problem = f"{keyword}: the model has no parameter {pattern!r}"
            raise ValueError(f"{problem}; {nearest(pattern, parameters)}")
    return [name for name in parameters if any(fnmatch.fnmatchcase(name, p) for p in patterns)]
