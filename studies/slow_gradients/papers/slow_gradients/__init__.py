"""Figures and claims of slow_gradients."""
