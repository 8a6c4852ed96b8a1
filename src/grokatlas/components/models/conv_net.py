"""The convolutional network of `grokalign` and its pixel normalisation."""

import math
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from grokatlas.engine.contracts import TaskData
from grokatlas.engine.keyword_types import Count, Counts, Vector, Whole

PLACES = 16  # pixels of a map, at which an inner layer is used


class ConvNet(nn.Module):
    """Convolutions with ReLU, average pools and one hidden layer, on images.

    Parameters are ``convolutions.<l>`` ``[out, in, 3, 3]`` and ``linear.<l>`` ``[out, in]``, no
    biases. Pixels are first normalised, ``(x - pixel_mean) / pixel_std`` in each channel, inside
    the model, so that a change of its inputs is a change of pixels.
    """

    pixel_mean: Tensor
    pixel_std: Tensor

    def __init__(
        self,
        image: tuple[int, ...],
        pixels: tuple[Tensor, Tensor],
        convolutions: list[Tensor],
        linear: list[Tensor],
        strides: list[int],
        pools: int,
    ) -> None:
        super().__init__()
        self.image = image
        self.register_buffer("pixel_mean", pixels[0])
        self.register_buffer("pixel_std", pixels[1])
        self.convolutions = nn.ParameterList([nn.Parameter(weight) for weight in convolutions])
        self.linear = nn.ParameterList([nn.Parameter(weight) for weight in linear])
        self.strides = strides
        self.pools = pools

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs ``[N, C]`` of images ``[N, channels, height, width]``, which may be flattened."""
        maps = (inputs.reshape(len(inputs), *self.image) - self.pixel_mean) / self.pixel_std
        for weight, stride in zip(self.convolutions, self.strides, strict=True):
            maps = torch.relu(functional.conv2d(maps, weight, stride=stride, padding=1))
        for _ in range(self.pools):
            maps = functional.avg_pool2d(maps, 2)
        hidden = torch.relu(maps.flatten(1) @ self.linear[0].T)
        return hidden @ self.linear[1].T


def build(
    *,
    data: TaskData,
    generator: torch.Generator,
    channels: Counts,
    strides: Counts,
    pools: Whole,
    width: Count,
    pixel_mean: Vector | None,
    pixel_std: Vector | None,
) -> ConvNet:
    """The network of arXiv 2506.12284, delayed robustness, as in its authors' code.

    Published: channels 32, 32, 64, 64, 128, 128, strides 1, 2, 1, 2, 1, 2, two pools, width 128.

    Args:
        data: the data set; its inputs must be images ``[N, channels, height, width]``, or square
            images of one channel, flattened.
        generator: the member's.
        channels: of the output of each convolution (3 x 3, zero padding of 1).
        strides: of each convolution.
        pools: number of 2 x 2 average pools after the last convolution.
        width: units of the hidden linear layer.
        pixel_mean: of each input channel, subtracted inside the model; null for 0.
        pixel_std: of each input channel, divided by inside the model; null for 1.

    Weights are drawn as ``torch.nn.init.kaiming_normal_(mode="fan_out")`` does for ReLU:
    N(0, 2/(9 out)) for convolutions, N(0, 2/out) for linear maps (variances).

    Raises:
        ValueError: inputs are no images, lists differ in length, a deviation is not positive, or
            an image is too small for the strides and pools.
    """
    image = _image(data.input_shape)
    if len(channels) != len(strides):
        raise ValueError(
            f"model.strides has {len(strides)} entries, model.channels {len(channels)}"
        )
    maps = [_map_size(side, strides, pools) for side in image[1:]]
    shapes = [(after, before, 3, 3) for before, after in pairwise([image[0], *channels])]
    sizes = [(width, channels[-1] * maps[0] * maps[1]), (data.outputs, width)]

    def draw(shape: tuple[int, ...]) -> Tensor:
        fan_out = shape[0] * torch.Size(shape[2:]).numel()
        normal = torch.randn(shape, generator=generator, dtype=torch.float64)
        return (2 / fan_out) ** 0.5 * normal

    pixels = _pixels(pixel_mean, pixel_std, image)
    convolutions, linear = ([draw(shape) for shape in layers] for layers in (shapes, sizes))
    return ConvNet(image, pixels, convolutions, linear, [*strides], pools)


def _image(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Channels, height and width of inputs of a shape."""
    side = math.isqrt(shape[0]) if len(shape) == 1 else 0
    if len(shape) == 1 and side**2 == shape[0]:
        return (1, side, side)
    if len(shape) != 3:
        raise ValueError(f"conv_net needs images [channels, height, width], not inputs {shape}")
    return shape


def _map_size(side: int, strides: list[int], pools: int) -> int:
    """The side of the last feature map of an image's side."""
    left = side
    for stride in strides:
        left = (left - 1) // stride + 1
    left //= 2**pools
    if left < 1:
        raise ValueError(f"an image side of {side} is too small for model.strides and model.pools")
    return left


def _pixels(
    mean: list[float] | None, std: list[float] | None, image: tuple[int, ...]
) -> tuple[Tensor, Tensor]:
    """Mean and deviation of each channel, ``[channels, 1, 1]``, checked."""
    columns = []
    for key, values, none in (("pixel_mean", mean, 0.0), ("pixel_std", std, 1.0)):
        values = [none] * image[0] if values is None else values
        if len(values) != image[0]:
            raise ValueError(f"model.{key} has {len(values)} entries, an image {image[0]} channels")
        columns.append(torch.tensor(values, dtype=torch.float64)[:, None, None])
    if (columns[1] <= 0).any():
        raise ValueError("model.pixel_std must be positive in each channel")
    return columns[0], columns[1]


def parameters(
    data: dict[str, Any],
    *,
    channels: list[int],
    strides: list[int],
    pools: int,
    width: int,
    **_: Any,
) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    shape = data["shape"]
    image = shape if len(shape) == 3 else (1, math.isqrt(shape[0]), math.isqrt(shape[0]))
    before = [image[0], *channels[:-1]]
    kernels = sum(9 * first * second for first, second in zip(before, channels, strict=True))
    sides = [*image[1:]]
    for stride in strides:
        sides = [(side - 1) // stride + 1 for side in sides]
    maps = channels[-1] * math.prod(side // 2**pools for side in sides)
    return kernels + width * (maps + data["outputs"])


def written(
    data: dict[str, Any], *, channels: list[int], strides: list[int], width: int, **_: Any
) -> int:
    """Numbers that a forward pass writes for each sample (docs/extending.md)."""
    shape = data["shape"]
    image = shape if len(shape) == 3 else (1, math.isqrt(shape[0]), math.isqrt(shape[0]))
    numbers, sides = 2 * math.prod(image), [*image[1:]]
    for channel, stride in zip(channels, strides, strict=True):
        sides = [(side - 1) // stride + 1 for side in sides]
        numbers += 2 * channel * math.prod(sides)
    return numbers + 2 * width + int(data["outputs"])
