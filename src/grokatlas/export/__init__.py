"""A scale of results as one archive, and as a Research Object Crate."""
