"""Keywords of every measure."""

from typing import Any

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "fourier_features": [{"parameter": "layers.0.weight"}],
    "grokking_times": [{"train_accuracy": 0.9, "test_accuracy": 0.5}],
}
