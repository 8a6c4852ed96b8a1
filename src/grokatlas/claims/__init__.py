"""Numbers read off tables, and verdicts on what a paper says of them."""
