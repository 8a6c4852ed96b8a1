import pytest
import torch

from grokatlas.engine.batches import Batches
from grokatlas.engine.ensemble import generators


def _batches(samples: int, size: int, seeds: list[int], shuffle: bool = True) -> Batches:
    numbers = torch.arange(samples)
    data = {"train_inputs": numbers, "train_targets": 10 * numbers}
    train = {"batch_size": size, "shuffle": shuffle}
    return Batches(train, data, samples, False, generators(seeds))


def _epoch(batches: Batches) -> list[torch.Tensor]:
    found = []
    while True:
        inputs, targets = batches.next()
        assert torch.equal(targets, 10 * inputs)
        found.append(inputs)
        if batches.begins_epoch:
            return found


@pytest.mark.parametrize(("samples", "size"), [(12, 4), (13, 4), (5, 4)])
def test_an_epoch_takes_each_sample_once(samples, size):
    batches = _batches(samples, size, [0, 1])
    first, second = _epoch(batches), _epoch(batches)
    for epoch in (first, second):
        whole = torch.cat(epoch, dim=1)
        assert [sorted(row.tolist()) for row in whole] == [list(range(samples))] * 2
        assert all(batch.shape[1] == size for batch in epoch[:-1])
    assert not torch.equal(torch.cat(first, dim=1), torch.cat(second, dim=1))
    assert not torch.equal(first[0][0], first[0][1])


def test_without_shuffling_members_share_the_data_in_order():
    batches = _batches(7, 3, [0, 1], shuffle=False)
    assert batches.member_axis is None
    assert [batch.tolist() for batch in _epoch(batches)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [batch.tolist() for batch in _epoch(batches)] == [[0, 1, 2], [3, 4, 5], [6]]


@pytest.mark.parametrize("taken", range(8))
def test_a_restored_place_goes_on_with_the_same_batches(taken):
    batches, again = _batches(7, 3, [0, 1]), _batches(7, 3, [5, 6])
    for _ in range(taken):
        batches.next()
    again.restore({key: value.clone() for key, value in batches.state().items()})
    for _ in range(7):
        assert torch.equal(batches.next()[0], again.next()[0])


@pytest.mark.parametrize("taken", range(5))
def test_a_member_that_stays_keeps_its_batches(taken):
    batches, alone = _batches(7, 3, [0, 1, 2]), _batches(7, 3, [2])
    for _ in range(taken):
        batches.next()
        alone.next()
    batches.keep(batches.data, [2])
    for _ in range(7):
        assert torch.equal(batches.next()[0], alone.next()[0])
