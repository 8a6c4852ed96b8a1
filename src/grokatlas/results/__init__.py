"""The tree of results: file names, bytes, hashes, manifests."""
