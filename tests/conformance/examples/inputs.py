"""Keywords of every change of inputs."""

from typing import Any

EXAMPLES: dict[str, list[dict[str, Any]]] = {}
