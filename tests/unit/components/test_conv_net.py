"""The convolutional network against the same layers of torch."""

import numpy as np
import pytest
import torch
from torch import nn

from grokatlas.components.models import conv_net
from grokatlas.engine.dataset import Dataset

PUBLISHED = {
    "channels": [32, 32, 64, 64, 128, 128],
    "strides": [1, 2, 1, 2, 1, 2],
    "pools": 2,
    "width": 128,
    "pixel_mean": None,
    "pixel_std": None,
}
SMALL = PUBLISHED | {"channels": [4, 6], "strides": [1, 2], "pools": 1, "width": 8}
WORKSHOP = PUBLISHED | {"channels": [8, 8, 16, 16, 32], "strides": [1, 2, 1, 2, 2]}
MEAN, STD = [0.4914, 0.4822, 0.4465], [0.2471, 0.2435, 0.2616]


def _images(samples=5, shape=(3, 32, 32)):
    inputs = np.random.RandomState(0).uniform(size=(samples, *shape))
    targets = np.zeros(samples, dtype=int)
    return Dataset(inputs, targets, inputs, targets, outputs=10)


def _build(data, seed=0, **keywords):
    return conv_net.build(data=data, generator=torch.Generator().manual_seed(seed), **keywords)


def _sequential(model, strides, pools):
    """The layers of torch with the model's weights."""
    layers: list[nn.Module] = []
    for weight, stride in zip(model.convolutions, strides, strict=True):
        after, before = weight.shape[:2]
        layer = nn.Conv2d(before, after, 3, stride=stride, padding=1, bias=False)
        layer.weight = nn.Parameter(weight.detach().clone())
        layers += [layer, nn.ReLU()]
    layers += [nn.AvgPool2d(2, 2) for _ in range(pools)] + [nn.Flatten()]
    for weight in model.linear:
        layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
        layer.weight = nn.Parameter(weight.detach().clone())
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


@pytest.mark.parametrize("keywords", [PUBLISHED, WORKSHOP, SMALL], ids=["published", "5", "small"])
def test_forward_is_the_layers_of_torch(keywords):
    data = _images()
    model = _build(data, **keywords)
    inputs = torch.from_numpy(data.train_inputs)
    expected = _sequential(model, keywords["strides"], keywords["pools"])(inputs)
    torch.testing.assert_close(model(inputs), expected, rtol=1e-12, atol=1e-12)


def test_published_size_starts_as_kaiming_fan_out():
    model = _build(_images(), **PUBLISHED)
    shapes = [tuple(weight.shape) for weight in model.parameters()]
    maps = [3, 32, 32, 64, 64, 128, 128]
    expected = [(maps[k + 1], maps[k], 3, 3) for k in range(6)] + [(128, 128), (10, 128)]
    assert shapes == expected
    for weight in model.parameters():
        reference = torch.empty_like(weight)
        generator = torch.Generator().manual_seed(1)
        nn.init.kaiming_normal_(reference, mode="fan_out", nonlinearity="relu", generator=generator)
        fan_out = weight.shape[0] * weight[0, 0].numel()
        error = 4 * (2 / fan_out) * (2 / weight.numel()) ** 0.5
        assert abs(weight.var().item() - 2 / fan_out) < error
        assert abs(reference.var().item() - 2 / fan_out) < error


def test_pixels_are_normalised_inside_the_model():
    data = _images()
    plain = _build(data, **SMALL)
    model = _build(data, **SMALL | {"pixel_mean": MEAN, "pixel_std": STD})
    assert set(dict(model.named_parameters())) == set(dict(plain.named_parameters()))
    mean, std = (np.array(values)[:, None, None] for values in (MEAN, STD))
    normalised = torch.from_numpy((data.train_inputs - mean) / std)
    inputs = torch.from_numpy(data.train_inputs)
    torch.testing.assert_close(model(inputs), plain(normalised), rtol=1e-12, atol=1e-12)


def test_flattened_squares_are_images_of_one_channel():
    data = _images(shape=(1, 8, 8))
    flat = _images(shape=(64,))
    model, other = _build(data, **SMALL), _build(flat, **SMALL)
    images = torch.from_numpy(data.train_inputs)
    assert torch.equal(other(images.flatten(1)), model(images))


@pytest.mark.parametrize(
    ("shape", "changes", "message"),
    [
        ((3,), {}, "needs images"),
        ((3, 32), {}, "needs images"),
        ((3, 32, 32), {"strides": [1]}, "model.strides has 1 entries"),
        ((3, 3, 3), {"pools": 2}, "too small"),
        ((3, 32, 32), {"pixel_std": [0.1]}, "model.pixel_std has 1 entries, an image 3 channels"),
        ((3, 32, 32), {"pixel_mean": MEAN, "pixel_std": [0.1, 0.0, 0.1]}, "must be positive"),
    ],
)
def test_what_does_not_fit_is_refused(shape, changes, message):
    with pytest.raises(ValueError, match=message):
        _build(_images(shape=shape), **SMALL | changes)
