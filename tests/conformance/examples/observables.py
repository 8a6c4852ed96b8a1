"""Keywords of every observable."""

from typing import Any

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "accuracies": [{}],
    "losses": [{}],
    "norms": [{"orders": ["l1", "l2"]}],
    "parameters": [{}],
}
