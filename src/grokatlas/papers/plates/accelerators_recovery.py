"""Two rows of plate 7 by themselves: the tasks whose runs take minutes, not days."""

from grokatlas.papers.plates.accelerators import draw

__all__ = ["draw"]
