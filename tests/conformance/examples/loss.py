"""Keywords of every loss."""

from typing import Any

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "cross_entropy": [{}],
    "mse": [
        {"reduction": "mean", "half": False},
        {"reduction": "sample_mean", "half": True},
        {"reduction": "sum", "half": False},
    ],
}
