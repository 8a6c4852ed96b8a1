"""The cases that figures 7 and 8 draw."""

ROWS = {
    "learned embedding": {
        "weight_decay": "learned_weight_decay",
        "grokalign": "learned_grokalign",
    },
    "fixed embedding": {
        "weight_decay": "fixed_weight_decay",
        "grokalign": "fixed_grokalign",
    },
}
