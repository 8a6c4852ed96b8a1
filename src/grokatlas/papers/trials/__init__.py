"""Trials: experiments with other values (`grokatlas try`). No paper, and no claim."""
