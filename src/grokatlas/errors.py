"""The one exception a user may meet: a mistake of theirs, told in one line."""


class UserError(Exception):
    """What is wrong, where, what is allowed and what to do, in one line.

    The command line and the Snakefile print it without a traceback and exit with code 1.
    """

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}".replace("\n", " "))


def nearest(name: str, allowed: list[str]) -> str:
    """The hint that ends an error about an unknown name: the nearest valid one, then all."""
    import difflib

    close = difflib.get_close_matches(name, allowed, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}allowed: {', '.join(sorted(allowed)) or 'none'}"
