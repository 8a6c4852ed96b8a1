"""A model that cannot be trained is refused before a step, in words that name it."""

import pytest
import torch
from torch import nn

from grokatlas.engine import model_trial, run
from tests.runs import addition, begun, mlp, schedule

INPUTS = torch.ones(4, 3)


class Model(nn.Module):
    """Outputs by a function of the model and the linear layer's outputs."""

    def __init__(self, outputs, of_noise=None):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.norm = nn.BatchNorm1d(2)
        self.layer_norm = nn.LayerNorm(2)
        self.register_buffer("count", torch.zeros(()))
        self.outputs = outputs
        if of_noise:
            self.noise_shape = lambda *shapes: (2,)

    def forward(self, inputs, noise=None):
        """Outputs."""
        made = self.outputs(self, self.linear(inputs))
        return made if noise is None else made[:, None] + noise


def _counts(model, outputs):
    model.count = model.count + 1
    return outputs


@pytest.mark.parametrize(
    ("outputs", "problem"),
    [
        (
            lambda _, y: y[:, None],
            r"its outputs are of the shape \[4, 1, 2\], .* \[N, C\]",
        ),
        (lambda _, y: y[:, 0], r"its outputs are of the shape \[4\]"),
        (lambda _, y: (y, y), "its outputs are of type tuple"),
        (
            lambda model, y: model.norm(y),
            r"changes norm\.running_mean, .*; take layer norm",
        ),
        (_counts, "changes count, and a model has no state beside its parameters"),
    ],
)
def test_a_model_is_refused(outputs, problem):
    file = "src/grokatlas/components/models/mine.py"
    with pytest.raises(ValueError, match=rf"^model mine \({file}\): .*{problem}"):
        model_trial.check("mine", Model(outputs), INPUTS, 2)


def test_outputs_with_noise_are_looked_at_too():
    model = Model(lambda _, y: y, of_noise=True)
    with pytest.raises(ValueError, match=r"shape \[4, 1, 2\]"):
        model_trial.check("mine", model, INPUTS, 2)


def test_layer_norm_is_allowed():
    model_trial.check("mine", Model(lambda model, y: model.layer_norm(y)), INPUTS, 2)


def test_a_run_tries_its_model_when_it_is_built(monkeypatch):
    spec = {
        "task": addition(),
        "model": mlp(6),
        "loss": {"name": "cross_entropy"},
        "optimizer": {"name": "gd", "lr": 0.1},
        "dynamics": {"name": "gradient_training"},
        "ensemble": {"seed": [3]},
        "train": schedule(1),
    }
    real = run.member_model

    def longer(*arguments):
        model = real(*arguments)
        forward = model.forward
        model.forward = lambda inputs: forward(inputs)[:, None]
        return model

    monkeypatch.setattr(run, "member_model", longer)
    with pytest.raises(ValueError, match=r"^model mlp \(.*/mlp\.py\): its outputs are"):
        begun(spec)
