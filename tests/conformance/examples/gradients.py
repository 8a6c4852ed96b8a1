"""Keywords of every link of the gradient chain."""

from typing import Any

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "clip_norm": [{"max_norm": 0.2}],
    "clip_value": [{"max_value": 0.02}],
    "gaussian_noise": [{"std": 0.1, "fading": 0.55}],
    "grokfast_ema": [{"alpha": 0.8, "lamb": 0.5}],
    "grokfast_ma": [{"window": 3, "lamb": 0.5}],
    "orthogonal": [{}],
    "scale": [{"parameter": "layers.0.weight", "factor": 0.1}],
}

# links that change nothing if this keyword is 0
NEUTRAL = {"gaussian_noise": ["std"], "grokfast_ema": ["lamb"], "grokfast_ma": ["lamb"]}
