"""What a component may not do with a member's tensors is told in its own words, with its place."""

import importlib.util

import pytest
import torch

from grokatlas.engine import unmapped
from grokatlas.engine.ensemble import Mapped

VALUES = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
CASES = {
    "torch.randn(3) * x": "draws random numbers; .* `noise_shape` and `given`",
    "torch.dropout(x, 0.5, True)": "draws random numbers",
    "x if x.sum() > 0 else -x": "branches on a value.*torch.where",
    "x * float(x.sum())": "makes a number of a tensor",
    "x[x > 0].sum()": "shape depends on values.*torch.where",
    "x.nonzero()": "shape depends on values",
    "torch.from_numpy(x.numpy())": "reads the values",
}


@pytest.fixture
def component(tmp_path, monkeypatch):
    """A component's function of a tensor, from its text."""
    monkeypatch.setattr(unmapped, "COMPONENTS", tmp_path)
    file = tmp_path / "penalties" / "mine.py"
    file.parent.mkdir()

    def made(text):
        file.write_text(f"import torch\n\n\ndef f(x):\n    return {{'y': {text}}}\n")
        spec = importlib.util.spec_from_file_location("mine", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return Mapped(module.f, (0,))

    return made


@pytest.mark.parametrize("text", CASES)
def test_what_cannot_be_mapped_is_told_with_its_place(component, text):
    with pytest.raises(
        RuntimeError, match=rf"^penalties/mine\.py, line 5: .*{CASES[text]}"
    ) as told:
        component(text)(VALUES)
    assert "vmap" not in str(told.value)


def test_a_function_of_no_component_is_told_too():
    with pytest.raises(RuntimeError, match=r"^a component branches on a value"):
        Mapped(lambda x: {"y": x if x.sum() > 0 else -x}, (0,))(VALUES)


def test_another_error_stays_what_it_is(component):
    with pytest.raises(RuntimeError, match="size"):
        component("x @ torch.ones(2)")(VALUES)
    assert unmapped.reason(RuntimeError("CUDA out of memory")) is None


def test_what_may_be_written_instead_works(component):
    found = component("torch.where(x > 0, x, 0.0).sum()")(VALUES)
    assert found["y"].tolist() == [4.0, 9.0]
