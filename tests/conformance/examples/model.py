"""Keywords of every model, and a task that each can learn."""

from typing import Any

from .task import (
    DIGITS,
    FOURIER_REGRESSION,
    MATRIX_COMPLETION,
    ONE_HOT,
    ONE_SAMPLE,
    OPERATION,
    SUMMED,
    TOKENS,
    TOKENS_EQUALS,
)

MLP = {
    "width": 24,
    "hidden_layers": 1,
    "bias": False,
    "init_law": "normal_fan_in",
    "init_scale": 1.1,
    "output_scale": 0.7,
    "dropout": None,
    "weight_noise": None,
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
TRANSFORMER = {
    "dimension": 6,
    "heads": 2,
    "head_dimension": 3,
    "width": 8,
    "embedding": "learned",
    "unembedding": "learned",
    "dropout": None,
    "weight_noise": None,
}
DECODER = {
    "layers": 2,
    "dimension": 6,
    "heads": 2,
    "width": 8,
    "layer_norm": "after",
    "activation": "relu",
    "bias": False,
    "positions": "sinusoidal",
}
DECODER_ON_STREAM = DECODER | {"layer_norm": "on_stream", "activation": "gelu", "bias": True}
DECODER_ON_STREAM |= {"positions": "learned"}
CONV_NET = {
    "channels": [2, 3],
    "strides": [1, 2],
    "pools": 1,
    "width": 4,
    "pixel_mean": [0.1],
    "pixel_std": [1.5],
}

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "bilinear_encoder": [BLOG, NOTEBOOK, BLOG | {"composition": "sum"}],
    "conv_net": [CONV_NET, CONV_NET | {"pools": 0, "pixel_mean": None, "pixel_std": None}],
    "decoder": [DECODER, DECODER_ON_STREAM, DECODER_ON_STREAM | {"layers": 1}],
    "diagonal_linear": [{"init_variance": 0.1}],
    "fitted_mlp": [{"width": 24, "excess": 0.5}, {"width": 16, "excess": 0.0}],
    "hadamard_product": [
        {"depth": 2, "init": "normal"},
        {"depth": 1, "init": [0.5, -1.0, 2.0]},
        {"depth": 3, "init": 0.5},
    ],
    "linear": [
        {"init": "normal", "negative_slope": 0.1},
        {"init": [1.0, -1.0, 0.5], "negative_slope": 1.0},
        {"init": 1e-6, "negative_slope": 1.0},
    ],
    "matrix": [{"init_scale": 0.1}],
    "matrix_factorisation": [{"factors": 2, "init_scale": 0.5}],
    "mlp": [
        MLP,
        DEEP_MLP,
        MLP | {"init_law": "normal_fan_out"},
        DEEP_MLP | {"bias": "hidden", "init_law": "normal"},
        DEEP_MLP | {"dropout": 0.4, "weight_noise": 0.1},
        MLP | {"dropout": 0.0},
    ],
    "transformer": [
        TRANSFORMER,
        TRANSFORMER | {"embedding": "fixed"},
        TRANSFORMER | {"embedding": "fixed", "unembedding": "fixed"},
        TRANSFORMER | {"embedding": "fixed", "dropout": 0.3, "weight_noise": 0.05},
        TRANSFORMER | {"weight_noise": 0.1},
    ],
}

# model -> a task that it can learn
TASKS = {
    "bilinear_encoder": TOKENS,
    "conv_net": DIGITS,
    "decoder": OPERATION,
    "diagonal_linear": FOURIER_REGRESSION,
    "fitted_mlp": SUMMED,
    "hadamard_product": ONE_SAMPLE,
    "linear": ONE_SAMPLE,
    "matrix": MATRIX_COMPLETION,
    "matrix_factorisation": MATRIX_COMPLETION,
    "mlp": ONE_HOT,
    "transformer": TOKENS_EQUALS,
}
