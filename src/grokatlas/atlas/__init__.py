"""The atlas: pages of figures, claims and deviations that open from disk."""
