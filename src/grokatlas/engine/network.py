"""A member's model as a function of parameters and inputs."""

from typing import TypeGuard

import torch
from torch import Tensor, nn

from grokatlas import registry
from grokatlas.engine.contracts import Buffers, Member, Params, Spec, TaskData, TokenModel
from grokatlas.engine.noise_contracts import NoisyModel


class Network:
    """``network(params, inputs) -> outputs [N, C]``, for one member.

    Args:
        skeleton: the `nn.Module`, whose own parameters are never used.
        constants: the member's buffers, by name.
        noise: of one step of training, for a batch of ``N`` samples; None: evaluation.
        samples: that ``N``.
    """

    def __init__(
        self,
        skeleton: nn.Module,
        constants: Buffers,
        noise: Tensor | None = None,
        samples: int = 0,
    ) -> None:
        self._skeleton = skeleton
        self._constants = constants
        self._noise = noise
        self._samples = samples

    @property
    def constants(self) -> Buffers:
        """The member's buffers by name, such as a fixed embedding."""
        return self._constants

    def __call__(self, params: Params, inputs: Tensor) -> Tensor:
        """Outputs ``[N, C]`` of inputs ``[N, ...]``, or of their features.

        Raises:
            ValueError: the model has noise, and this is not a batch of as many samples.
        """
        arguments: tuple[Tensor, ...] = (inputs,)
        if self._noise is not None:
            if len(inputs) != self._samples:
                problem = f"noise for a batch of {self._samples} samples, not of {len(inputs)}"
                raise ValueError(f"the model has {problem}; call it with the whole batch")
            arguments = (inputs, self._noise)
        return torch.func.functional_call(self._skeleton, (params, self._constants), arguments)

    def features(self, params: Params, inputs: Tensor) -> Tensor:
        """The variable of derivatives: real inputs, or the embeddings of tokens.

        Raises:
            ValueError: inputs are integers, and the model embeds none.
        """
        if inputs.is_floating_point():
            return inputs
        everything = {**params, **self._constants}
        named = {f"model.{key}": value for key, value in everything.items()}
        if not _embeds(self._skeleton):
            raise ValueError("inputs are integers, and the model has no method `embed` for them")
        return torch.func.functional_call(_Embedding(self._skeleton), named, (inputs,))


def member_model(
    spec: Spec, data: TaskData, member: Member, generator: torch.Generator
) -> nn.Module:
    """A member's model with its own numbers, on the CPU, in the run's precision.

    Args:
        spec: the run's.
        data: the run's data set.
        member: the value of every ensemble axis (`members.of`).
        generator: fresh, of the member's seed.
    """
    prefix = "model."
    keywords = registry.keywords(spec["model"])
    keywords |= {k.removeprefix(prefix): v for k, v in member.items() if k.startswith(prefix)}
    build = registry.load("model", spec["model"]["name"]).build
    model: nn.Module = build(data=data, generator=generator, **keywords)
    return model.to(getattr(torch, spec["train"]["dtype"]))


def is_noisy(model: object) -> TypeGuard[NoisyModel]:
    """Tell a model that takes noise in training."""
    return hasattr(model, "noise_shape")


def _embeds(model: object) -> TypeGuard[TokenModel]:
    return hasattr(model, "embed")


class _Embedding(nn.Module):
    """`embed` of a model, as a module of its own."""

    def __init__(self, model: TokenModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor) -> Tensor:
        """Embeddings ``[N, T, D]`` of tokens ``[N, T]``."""
        return self.model.embed(tokens)
