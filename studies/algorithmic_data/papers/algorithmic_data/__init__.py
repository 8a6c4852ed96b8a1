"""Figures and claims of algorithmic_data."""
