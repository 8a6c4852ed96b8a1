"""Shared drawing vocabulary: one style, one colour for a key in every figure of every paper.

Whatever draws or takes colours imports this package before matplotlib.
"""

import os

# Figures are files. Matplotlib fails to start where this names a backend that it does not know.
os.environ["MPLBACKEND"] = "agg"
