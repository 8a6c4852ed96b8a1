"""The samples of a step: the full batch, or minibatches of each member's own epochs."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Batch, Data, Spec
from grokatlas.engine.record import SavedBatches


class Batches:
    """Batches without end, whose place can be saved and restored.

    Args:
        train: the run's ``train`` block: ``batch_size`` (absent: the full batch) and ``shuffle``.
        data: ``train_inputs`` and ``train_targets`` on their device.
        samples: number of training samples ``N``.
        per_member: whether data have a leading axis ``M``.
        generators: one for each member.
    """

    def __init__(
        self,
        train: Spec,
        data: Data,
        samples: int,
        per_member: bool,
        generators: list[torch.Generator],
    ) -> None:
        self.data = data
        self.per_member = per_member
        self.generators = generators
        self.samples = samples
        self.size = min(train.get("batch_size", samples), samples)
        self.shuffled = self.size < samples and train["shuffle"]
        self._first = 0  # sample at which the next batch begins
        self._order: Tensor | None = None  # [M, N], this epoch's
        self._states = self._generator_states()

    @property
    def member_axis(self) -> int | None:
        """0 if a batch has a leading axis ``M``, None if members share it."""
        return 0 if self.per_member or self.shuffled else None

    @property
    def begins_epoch(self) -> bool:
        """True where the next batch is the first of an epoch."""
        return self._first == 0

    def next(self) -> Batch:
        """Inputs and targets of the next batch; the last of an epoch may be smaller."""
        inputs, targets = self.data["train_inputs"], self.data["train_targets"]
        if self.size == self.samples:
            return inputs, targets
        if self._first == 0 and self.shuffled:
            self._states = self._generator_states()
            self._order = self._draw()
        part = slice(self._first, self._first + self.size)
        self._first = part.stop if part.stop < self.samples else 0
        if self._order is not None:
            index = self._order[:, part]
            return self._select(inputs, index), self._select(targets, index)
        where = (slice(None), part) if self.per_member else part
        return inputs[where], targets[where]

    def state(self) -> SavedBatches:
        """The place in the epoch, and each generator as it was when the epoch began."""
        states = self._states if self._first else self._generator_states()
        return {"first": torch.tensor(self._first), "generators": states}

    def restore(self, state: SavedBatches) -> None:
        """Go on where `state` was taken."""
        for generator, saved in zip(self.generators, state["generators"], strict=True):
            generator.set_state(saved.clone())  # it must own its memory
        self._first = int(state["first"])
        self._states = state["generators"]
        if self._first and self.shuffled:
            self._order = self._draw()

    def keep(self, data: Data, indices: list[int]) -> None:
        """Go on with the members at these indices, whose data are `data`."""
        self.data = data
        self.generators = [self.generators[index] for index in indices]
        self._states = self._states[indices]
        if self._order is not None:
            self._order = self._order[indices]

    def _generator_states(self) -> Tensor:
        return torch.stack([generator.get_state() for generator in self.generators])

    def _draw(self) -> Tensor:
        """An epoch's order of the samples for each member ``[M, N]``, drawn on the CPU."""
        orders = [torch.randperm(self.samples, generator=g) for g in self.generators]
        return torch.stack(orders).to(self.data["train_inputs"].device)

    def _select(self, values: Tensor, index: Tensor) -> Tensor:
        if not self.per_member:
            return values[index]
        return values[torch.arange(len(index), device=index.device)[:, None], index]
