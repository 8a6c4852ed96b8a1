"""Figures that none of the papers has: each is a question, a prediction and an answer."""
