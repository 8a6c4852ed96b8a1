"""What counts of source code: the text of modules as syntax trees, and digests of them."""
