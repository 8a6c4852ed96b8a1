"""The Geometry of Grokking (arXiv 2511.01938)."""
