"""Values of the command line: argparse calls these, and prints what they say is wrong."""

import argparse


def threads(text: str) -> int:
    """A number of threads, 1 or more."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of threads (1 or more)")
    return int(text)


def device(text: str) -> str:
    """Where a run trains."""
    if text not in ("auto", "cpu", "cuda"):
        problem = f"{text!r} is no device (auto, cpu or cuda; GROKATLAS_DEVICE is the default)"
        raise argparse.ArgumentTypeError(problem)
    return text


def seconds(text: str) -> float:
    """A number of seconds, 0 or more."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds (0 or more)")
    return found


def number(text: str) -> float:
    """A number, 0 or more."""
    try:
        return seconds(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number (0 or more)") from None


def size(text: str) -> float:
    """A number of bytes, such as 500G."""
    amount, unit = (text[:-1], text[-1]) if text[-1:] in "kMGT" else (text, "")
    try:
        return seconds(amount) * 1000 ** " kMGT".index(unit or " ")
    except argparse.ArgumentTypeError:
        problem = f"{text!r} is not a size such as 500G; units are k, M, G, T"
        raise argparse.ArgumentTypeError(problem) from None
