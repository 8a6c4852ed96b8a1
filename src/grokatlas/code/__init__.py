"""Source code as far as it counts: syntax trees of modules, and digests of them."""
