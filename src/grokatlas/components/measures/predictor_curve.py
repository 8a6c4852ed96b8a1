"""A predictor of one variable, as a curve."""

import numpy as np
import pandas as pd
import torch

from grokatlas.engine.contracts import FinishedRun, Measure, TaskData
from grokatlas.engine.rebuilt import RebuiltMember, restored

NEEDS = ["snapshots"]


def build() -> Measure[FinishedRun]:
    """The network's outputs at every snapshot, against the variable (arXiv 2505.20172, fig. 3, 4).

    The variable is the input where inputs have one coordinate. Where they are features of a
    variable, the task gives it: extras ``train_positions`` and ``test_positions`` ``[N]``.

    Returns:
        a function of a finished run, giving one row for each member, snapshot ``step``, ``part``
        (test or train) and sample: ``input``, the network's ``output`` and the ``target`` there,
        sorted by input. A `ValueError` if there is no such variable, or outputs or targets are
        not one real number.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        curves = [
            _curve(one, part, _positions(run.data, part, one.member))
            for one in restored(run)
            for part in ("test", "train")
        ]
        return pd.concat(curves, ignore_index=True)

    return measure


def _positions(data: TaskData, part: str, member: int) -> np.ndarray | None:
    """The variable that inputs are features of ``[N]``, if the task gives it."""
    positions = data.extras.get(f"{part}_positions")
    return positions[member] if positions is not None and data.per_member else positions


def _curve(one: RebuiltMember, part: str, positions: np.ndarray | None) -> pd.DataFrame:
    inputs, targets = one.data[f"{part}_inputs"], one.data[f"{part}_targets"]
    with torch.no_grad():
        outputs = one.outputs(inputs)
    if positions is not None:
        variable = torch.from_numpy(np.ascontiguousarray(positions))[:, None]
    else:
        variable = inputs
    if {tensor.shape for tensor in (variable, outputs, targets)} != {(len(inputs), 1)}:
        raise ValueError("predictor_curve needs inputs of one coordinate and one real output")
    columns = {"input": variable, "output": outputs, "target": targets}
    frame = pd.DataFrame({key: value[:, 0].double().numpy() for key, value in columns.items()})
    frame.insert(0, "member", one.member)
    frame.insert(1, "step", one.step)
    frame.insert(2, "part", part)
    return frame.sort_values("input", kind="stable", ignore_index=True)
