"""Figures and claims of progress_measures."""
