"""Parameters that are chosen by name."""

import fnmatch

from grokatlas.engine.contracts import Params


def chosen(params: Params, patterns: list[str]) -> list[str]:
    """The names of parameters that match a pattern, in the order of the model.

    Raises:
        ValueError: there is no pattern, or one matches no parameter.
    """
    for pattern in patterns or [""]:
        if not fnmatch.filter(params, pattern):
            allowed = ", ".join(params)
            raise ValueError(f"no parameter matches {pattern!r}; write '*', or some of {allowed}")
    return [key for key in params if any(fnmatch.fnmatchcase(key, each) for each in patterns)]
