"""Figures and claims of numerical_stability."""
