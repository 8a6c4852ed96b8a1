"""Four rows of plate 7 by themselves: the tasks whose runs take hours in all, not days."""

from grokatlas.papers.plates.accelerators import draw

__all__ = ["draw"]
