"""The claim G4 of geometry as a job file has it, and a table for it."""

import pandas as pd

from tests import cases

CLAIM = cases.data(__file__)["claim"]


def weights(*final: float) -> pd.DataFrame:
    """A table of figure 1 whose runs end at these weights."""
    rows = [
        {"record": "history", "case": "", "run": f"run{seed}", "member": 0, "seed": 0, "step": step}
        | {"penalties.0.weight": float(seed)}
        | dict.fromkeys(("parameters.weight.0", "parameters.weight.1"), value)
        for seed, end in enumerate(final)
        for step, value in ((0, -1.0), (9, end))
    ]
    return pd.DataFrame(rows)


def replace_function(monkeypatch, function) -> None:
    """Give the claim G4 another function."""
    monkeypatch.setattr(f"{CLAIM['module']}.{CLAIM['value']}", function)
