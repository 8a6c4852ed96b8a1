"""Grokking Beyond the Euclidean Norm of Model Parameters (arXiv 2506.05718)."""
