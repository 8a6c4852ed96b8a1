"""Figures and tables of GrokAlign (arXiv 2506.12284)."""
