"""Grokking Atlas: the figures of five papers on grokking, redrawn from declared experiments."""

__version__ = "0.1.0"
