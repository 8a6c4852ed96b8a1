"""Keywords of every change of inputs."""

from typing import Any

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "accuracy_scaled_noise": [{"high": 0.5, "low": 0.36}],
}

# changes that change nothing if these keywords are 0
NEUTRAL = {"accuracy_scaled_noise": ["high", "low"]}
