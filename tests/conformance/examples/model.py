"""Keywords of every model, and a task that each can learn."""

from typing import Any

from .task import ONE_HOT, ONE_SAMPLE, TOKENS

MLP = {
    "width": 24,
    "hidden_layers": 1,
    "bias": False,
    "init_law": "normal_fan_in",
    "init_scale": 1.1,
    "output_scale": 0.7,
}
DEEP_MLP = MLP | {"width": 6, "hidden_layers": 2, "bias": True, "init_law": "uniform_fan_in"}
BLOG = {
    "embedding": "shared",
    "composition": "matrix_product",
    "side": 2,
    "width": 8,
    "bias": True,
}
NOTEBOOK = BLOG | {"embedding": "separate", "composition": "hadamard_product", "bias": False}

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "bilinear_encoder": [BLOG, NOTEBOOK, BLOG | {"composition": "sum"}],
    "hadamard_product": [
        {"depth": 2, "init": "normal"},
        {"depth": 1, "init": [0.5, -1.0, 2.0]},
    ],
    "linear": [
        {"init": "normal", "negative_slope": 0.1},
        {"init": [1.0, -1.0, 0.5], "negative_slope": 1.0},
    ],
    "mlp": [MLP, DEEP_MLP, MLP | {"init_law": "normal_fan_out"}],
}

# model -> a task that it can learn
TASKS = {
    "bilinear_encoder": TOKENS,
    "hadamard_product": ONE_SAMPLE,
    "linear": ONE_SAMPLE,
    "mlp": ONE_HOT,
}
