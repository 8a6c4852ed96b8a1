"""Keywords of every dynamics."""

from typing import Any

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "gradient_training": [{}],
    "isolated_first_layer": [{"rate": 0.01}],
}
