"""The rows of figures 7 and 8, and what their cases begin with."""

ROWS = {"learned embedding": "learned", "fixed embedding": "fixed"}
