"""What a component may not do with a member's tensors is told in its own words, with its place."""

import importlib.util

import pytest
import torch

from grokatlas import registry
from grokatlas.engine import unmapped
from grokatlas.engine.ensemble import Mapped

VALUES = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
CASES = {
    "torch.randn(3) * x": "draws random numbers; a model, .* by `noise_shape`",
    "torch.dropout(x, 0.5, True)": "draws random numbers",
    "torch.batch_norm(x[None], None, None, MEAN, 1 + MEAN, True, 0.1, 1e-5, False)": "has the "
    "state of batch norm, and a model has no state beside .*; take layer norm, or a fixed scale",
    "torch.func.grad(lambda y: (MEAN.add_(1) * y).sum())(x)": "changes a tensor in place, as batch "
    "norm does, and a model has no state beside",
    "x if x.sum() > 0 else -x": "branches on a value.*torch.where",
    "x * float(x.sum())": "makes a number of a tensor",
    "x[x > 0].sum()": "shape depends on values.*torch.where",
    "x.nonzero()": "shape depends on values",
    "torch.from_numpy(x.numpy())": "reads the values",
}


@pytest.fixture(params=["package", "study"])
def component(request, tmp_path, monkeypatch):
    """A component's function of a tensor, from its text, and its file as errors name it."""
    if request.param == "package":
        monkeypatch.setattr(registry, "PACKAGE", tmp_path)
        monkeypatch.setattr(registry, "shown", lambda file: f"src/{file.relative_to(tmp_path)}")
    else:
        (tmp_path / registry.STUDY).write_text("")
        monkeypatch.chdir(tmp_path)
    file = tmp_path / "components" / "penalties" / "mine.py"
    file.parent.mkdir(parents=True)
    shown = "src/" * (request.param == "package") + "components/penalties/mine.py"

    def made(text):
        head = "import torch\n\nMEAN = torch.zeros(3)\n"
        file.write_text(f"{head}def f(x):\n    return {{'y': {text}}}\n")
        spec = importlib.util.spec_from_file_location("mine", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return Mapped(module.f, (0,)), shown

    return made


@pytest.mark.parametrize("text", CASES)
def test_what_cannot_be_mapped_is_told_with_its_place(component, text):
    mapped, shown = component(text)
    with pytest.raises(RuntimeError, match=rf"^{shown}, line 5: .*{CASES[text]}") as told:
        mapped(VALUES)
    assert "vmap" not in str(told.value)


def test_a_function_of_no_component_is_told_too():
    with pytest.raises(RuntimeError, match=r"^a component branches on a value"):
        Mapped(lambda x: {"y": x if x.sum() > 0 else -x}, (0,))(VALUES)


def test_the_study_s_file_is_named_where_it_calls_one_of_the_package(component):
    """An observable of the package evaluates a model of the study."""
    called, _ = component("x if x.sum() > 0 else -x")
    with pytest.raises(RuntimeError, match=r"components/penalties/mine\.py, line 5: branches"):
        Mapped(lambda x: called._mapped(x[None]), (0,))(VALUES)


def test_another_error_stays_what_it_is(component):
    with pytest.raises(RuntimeError, match="size"):
        component("x @ torch.ones(2)")[0](VALUES)
    assert unmapped.reason(RuntimeError("CUDA out of memory")) is None


def test_what_may_be_written_instead_works(component):
    found = component("torch.where(x > 0, x, 0.0).sum()")[0](VALUES)
    assert found["y"].tolist() == [4.0, 9.0]
