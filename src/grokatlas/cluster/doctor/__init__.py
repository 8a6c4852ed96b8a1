"""``grokatlas doctor``: what may go wrong in a long run, reported before it starts."""
