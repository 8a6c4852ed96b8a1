"""Peers of the runs that train networks by gradients, as users of PyTorch write them.

`script` is the usual script: a module, ``torch.optim``, a ``DataLoader`` that fetches sample by
sample, ``loss.item()`` after each step. `careful` has its data on the device, slices them, takes
the loss and the regulariser from one forward pass, a fused optimizer, and never waits for a number.
Both train one member. The modules are those of the papers' code.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, TensorDataset

from benchmarks.start import Start


def perceptron(params: dict[str, Tensor]) -> nn.Module:
    """Linear layers without biases and ReLU between them."""
    layers: list[nn.Module] = []
    for weight in params.values():
        linear = nn.Linear(*weight.shape[::-1], bias=False)
        linear.weight = nn.Parameter(weight.clone())
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Encoder(nn.Module):
    """The modular addition network: one embedding, the product of two matrices, an MLP."""

    def __init__(self, params: dict[str, Tensor]) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(params["embedding.0"].clone(), freeze=False)
        self.hidden = nn.Linear(*params["hidden.weight"].shape[::-1])
        self.readout = nn.Linear(*params["readout.weight"].shape[::-1])
        for name in ("hidden", "readout"):
            layer = getattr(self, name)
            layer.weight = nn.Parameter(params[f"{name}.weight"].clone())
            layer.bias = nn.Parameter(params[f"{name}.bias"].clone())
        self.side = round(params["embedding.0"].shape[1] ** 0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``[N, C]`` of pairs ``[N, 2]``."""
        left, right = (self.embedding(tokens[:, k]).view(-1, self.side, self.side) for k in (0, 1))
        return self.readout(torch.relu(self.hidden((left @ right).flatten(1))))


class Transformer(nn.Module):
    """One layer without norms, all positions, causal; as in the notebook of Nanda et al."""

    def __init__(self, params: dict[str, Tensor]) -> None:
        super().__init__()
        for name, value in params.items():
            self.register_parameter(name, nn.Parameter(value.clone()))
        positions = len(params["position"])
        mask = torch.ones(positions, positions, dtype=torch.bool, device=value.device).triu(1)
        self.register_buffer("mask", mask)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``[N, C]`` at the last position of tokens ``[N, T]``."""
        stream = self.embedding[tokens] + self.position
        query, key, value = (
            torch.einsum("ihd,bpd->biph", weight, stream)
            for weight in (self.query, self.key, self.value)
        )
        scores = torch.einsum("biqh,biph->biqp", query, key) / query.shape[-1] ** 0.5
        pattern = scores.masked_fill(self.mask, -torch.inf).softmax(-1)
        mixed = torch.einsum("biqp,biph->bqih", pattern, value).flatten(2)
        stream = stream + torch.einsum("df,bqf->bqd", self.attention_out, mixed)
        hidden = torch.relu(torch.einsum("md,bpd->bpm", self.mlp_in, stream) + self.mlp_in_bias)
        stream = stream + torch.einsum("dm,bpm->bpd", self.mlp_out, hidden) + self.mlp_out_bias
        return (stream @ self.unembedding)[:, -1]


def _module(begin: Start) -> nn.Module:
    build = {"mlp": perceptron, "bilinear_encoder": Encoder, "transformer": Transformer}
    return build[begin.spec["model"]["name"]](begin.params).to(begin.device)


def _optimizer(begin: Start, module: nn.Module, **how: bool) -> torch.optim.Optimizer:
    block = begin.spec["optimizer"]
    if block["name"] == "sgd":
        rates = {key: block[key] for key in ("lr", "momentum", "weight_decay", "nesterov")}
        return torch.optim.SGD(module.parameters(), **rates, **how)
    rates = {"lr": block["lr"], "betas": (block["beta1"], block["beta2"]), "eps": block["eps"]}
    if block["name"] == "adam":
        return torch.optim.Adam(module.parameters(), **rates, **how)
    decay = block["weight_decay"]
    return torch.optim.AdamW(module.parameters(), **rates, weight_decay=decay, **how)


def _criterion(begin: Start) -> Callable[[Tensor, Tensor], Tensor]:
    return {"cross_entropy": nn.CrossEntropyLoss(), "mse": nn.MSELoss()}[begin.spec["loss"]["name"]]


def _penalty(begin: Start) -> dict[str, Any]:
    return begin.spec.get("penalties", [{"name": None}])[0]


def _size(norms: Tensor, classes: int) -> Tensor:
    """The mean estimate of a Jacobian's norm from products ``v^T J [N, D]``."""
    squares = norms.flatten(1).square().sum(1)
    return torch.sqrt(torch.clamp(squares * classes, min=1e-8)).mean()


def _directions(begin: Start, outputs: Tensor) -> Tensor:
    directions = begin.draw(*outputs.shape)
    return directions / torch.clamp(directions.norm(dim=-1, keepdim=True), min=1e-8)


class GrokAlign:
    """The authors' regulariser: a forward pass of its own, and a product by ``autograd.grad``."""

    def __init__(self, begin: Start, module: nn.Module) -> None:
        self.begin = begin
        self.module = module

    def __call__(self, inputs: Tensor) -> Tensor:
        """The mean norm of the Jacobian of a batch."""
        inputs = inputs.detach().requires_grad_(True)
        outputs = self.module(inputs)
        products = torch.autograd.grad(
            outputs, inputs, _directions(self.begin, outputs), create_graph=True
        )
        return _size(products[0], outputs.shape[1])


class Pictures(Dataset):
    """Grey pictures of bytes, with torchvision's steps when one is fetched: ToTensor, Normalize."""

    def __init__(self, inputs: Tensor, targets: Tensor) -> None:
        self.pixels = ((inputs * 0.3081 + 0.1307) * 255).round().to(torch.uint8).view(-1, 28, 28)
        self.targets = targets
        self.dtype = inputs.dtype

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        """One picture ``[D]`` and its label."""
        picture, label = Image.fromarray(self.pixels[index].numpy()), int(self.targets[index])
        values = torch.from_numpy(np.array(picture, np.uint8, copy=True))
        values = values.view(*picture.size[::-1], 1).permute(2, 0, 1).contiguous()
        values = values.to(self.dtype).div(255).clone()
        mean, deviation = (torch.as_tensor([n], dtype=self.dtype) for n in (0.1307, 0.3081))
        values.sub_(mean.view(-1, 1, 1)).div_(deviation.view(-1, 1, 1))
        return values.flatten(), label


class Network:
    """A peer that trains a module; `steps` goes through the batches of a loop without end."""

    def __init__(self, begin: Start, module: nn.Module, loop: Iterator[None]) -> None:
        self.names = list(begin.params)
        self.module = module
        self.loop = loop

    def steps(self, count: int) -> None:
        """Take some updates."""
        for _ in range(count):
            next(self.loop)

    def parameters(self) -> dict[str, Tensor]:
        """The parameters by our names, which are in the module's order."""
        values = [value.detach() for value in self.module.parameters()]
        return dict(zip(self.names, values, strict=True))


def script(begin: Start) -> Network:
    """The usual script."""
    module = _module(begin)
    optimizer = _optimizer(begin, module)
    criterion, penalty = _criterion(begin), _penalty(begin)
    regulariser = GrokAlign(begin, module)
    pictures = begin.spec["task"]["name"] == "mnist"
    kind = Pictures if pictures else TensorDataset
    dataset = kind(begin.inputs.cpu(), begin.targets.cpu())
    loader = DataLoader(dataset, begin.spec["train"].get("batch_size", len(dataset)))
    losses = []

    def loop() -> Iterator[None]:
        while True:
            for inputs, targets in loader:
                x, y = inputs.to(begin.device), targets.to(begin.device)
                optimizer.zero_grad()
                loss = criterion(module(x), y)
                if penalty["name"] == "jacobian":
                    loss = loss + penalty["weight"] * regulariser(x)
                if penalty["name"] == "nuclear":
                    for weight in module.parameters():
                        if weight.ndim == 2:
                            norm = torch.linalg.matrix_norm(weight, "nuc")
                            loss = loss + penalty["weight"] * norm
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                yield

    return Network(begin, module, loop())


def careful(begin: Start) -> Network:
    """The careful loop."""
    module = _module(begin)
    optimizer = _optimizer(begin, module, fused=True)
    cross_entropy = begin.spec["loss"]["name"] == "cross_entropy"
    criterion = functional.cross_entropy if cross_entropy else functional.mse_loss
    penalty = _penalty(begin)
    samples = len(begin.inputs)
    size = min(begin.spec["train"].get("batch_size", samples), samples)
    matrices = [weight for weight in module.parameters() if weight.ndim == 2]

    def loop() -> Iterator[None]:
        while True:
            for first in range(0, samples, size):
                x, y = begin.inputs[first : first + size], begin.targets[first : first + size]
                if penalty["name"] == "jacobian":
                    x = x.detach().requires_grad_(True)
                outputs = module(x)
                loss = criterion(outputs, y)
                if penalty["name"] == "jacobian":
                    given = _directions(begin, outputs)
                    (products,) = torch.autograd.grad(outputs, x, given, create_graph=True)
                    loss = loss + penalty["weight"] * _size(products, outputs.shape[1])
                    x.requires_grad_(False)
                if penalty["name"] == "nuclear":
                    norms = [torch.linalg.matrix_norm(weight, "nuc") for weight in matrices]
                    loss = loss + penalty["weight"] * torch.stack(norms).sum()
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                yield

    return Network(begin, module, loop())
