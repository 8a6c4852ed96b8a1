"""``grokatlas doctor``: what may go wrong before a long run, told before it starts."""
