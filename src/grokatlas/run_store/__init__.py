"""The store of finished runs, shared by checkouts."""
