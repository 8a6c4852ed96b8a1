"""Figures and claims of omnigrok."""
