"""Keywords of every link of the gradient chain."""

from typing import Any

EXAMPLES: dict[str, list[dict[str, Any]]] = {}
