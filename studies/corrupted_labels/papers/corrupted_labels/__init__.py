"""Figures and claims of corrupted_labels."""
