"""The page of `grokatlas explain --html`: what a result was made from, down to its data."""
