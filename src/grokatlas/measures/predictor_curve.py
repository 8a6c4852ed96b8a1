"""A predictor of one variable, as a curve."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import torch

from grokatlas.restore import Restored, restored


def build() -> Callable[[Any], pd.DataFrame]:
    """The network's outputs on the test inputs, at every snapshot (arXiv 2505.20172, figures 3, 4).

    Returns:
        a function of a finished run, giving one row for each member, snapshot ``step`` and test
        input: ``input``, the network's ``output`` and the ``target`` there, sorted by input. A
        `ValueError` if inputs have more than one coordinate, or outputs or targets are not one
        real number.
    """

    def measure(run: Any) -> pd.DataFrame:
        return pd.concat([_curve(one) for one in restored(run)], ignore_index=True)

    return measure


def _curve(one: Restored) -> pd.DataFrame:
    inputs, targets = one.data["test_inputs"], one.data["test_targets"]
    with torch.no_grad():
        outputs = one.outputs(inputs)
    sizes = {tensor.shape for tensor in (inputs, outputs, targets)}
    if sizes != {(len(inputs), 1)}:
        raise ValueError("predictor_curve needs inputs of one coordinate and one real output")
    columns = {"input": inputs, "output": outputs, "target": targets}
    frame = pd.DataFrame({key: value[:, 0].double().numpy() for key, value in columns.items()})
    frame.insert(0, "member", one.member)
    frame.insert(1, "step", one.step)
    return frame.sort_values("input", kind="stable", ignore_index=True)
