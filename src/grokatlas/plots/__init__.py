"""Shared drawing vocabulary: one style, one colour for a key in every figure of every paper."""
