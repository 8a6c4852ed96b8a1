"""The rows of figures 7 and 8, and their experiments."""

ROWS = {"learned embedding": "transformer", "fixed embedding": "transformer_fixed_embedding"}
