"""Plate 6 without its images: the networks on modular addition, whose runs take an hour."""

from grokatlas.papers.plates.precision import draw

__all__ = ["draw"]
