"""A Theoretical Framework for Grokking (arXiv 2505.20172)."""
