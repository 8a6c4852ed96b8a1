"""Members that move together: their state, step and batches."""

from typing import TypedDict

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from grokatlas.engine import capture, noise
from grokatlas.engine.batches import Batches
from grokatlas.engine.contracts import (
    AxisValues,
    Batch,
    Buffers,
    Data,
    Extras,
    Params,
    Shape,
    Tree,
)
from grokatlas.engine.ensemble import select
from grokatlas.engine.programs import Programs
from grokatlas.engine.record import OPTIMIZER, SavedGroup
from grokatlas.engine.start import Start


class Members(TypedDict):
    """Values of ensemble axes ``[M]``, buffers and initial parameters ``[M, ...]`` of members."""

    hyper: AxisValues
    constants: Buffers
    params: Params


class Group:
    """Some members of a run; every tensor has a leading axis ``M`` of those that still train.

    Args:
        programs: of the run.
        indices: the members' indices in the run.
        seeds: their seeds.
        members: what is theirs.
        data: ``train_inputs`` and so on, shared by members or with an axis ``M``.
        extras: what else the task knows, likewise.
        batches: of these members.
        outputs: number of outputs ``C`` of the model.
        recorder: records steps, which are then replayed; None: they are computed one by one.
    """

    def __init__(
        self,
        programs: Programs,
        indices: list[int],
        seeds: list[int],
        members: Members,
        data: Data,
        extras: Extras,
        batches: Batches,
        outputs: int,
        recorder: capture.Recorder | None = None,
    ) -> None:
        self.programs = programs
        self.indices = indices
        self.hyper, self.constants = members["hyper"], members["constants"]
        self.data, self.extras = data, extras
        self.batches = batches
        self.outputs = outputs
        own = torch.tensor(seeds, device=data["train_inputs"].device)
        self.noise = noise.source(own, getattr(torch, programs.spec["train"]["dtype"]))
        self.step = 0  # number of steps that were drawn
        state = programs.init(self.hyper, self.constants, members["params"])
        self.state: Tree = tree_map(torch.clone, state)  # a step overwrites it
        self._recorder = recorder
        self._stepper: capture.Stepper | None = None

    def go_on(self, start: Start) -> None:
        """Begin with the state that a parent's optimizer had.

        Raises:
            ValueError: the dynamics has no optimizer, or the parent's is another.
        """
        fresh = self.state.get(OPTIMIZER)
        if fresh is None or isinstance(fresh, Tensor):
            problem = "start: the state of this dynamics has no optimizer that could go on"
            raise ValueError(f"{problem}; write optimizer: fresh")
        self.state = {**self.state, OPTIMIZER: start.optimizer(fresh, self.indices)}

    def move(self, steps: int) -> None:
        """Advance every member by some steps."""
        advance = self.programs.advance
        if advance is not None:
            keywords = self.programs.dynamics_keywords(self.hyper)
            self.state = advance(self.state, self._train(), steps, **keywords)
            self.step += steps
            return
        if self._stepper is None and steps:
            self._step()  # it traces the program, so that what it does is known
            steps -= 1
            if self._recorder is not None and not self.waits:
                self._stepper = capture.Stepper(self, self._recorder)
        if self._stepper is not None:
            self._stepper.move(steps)
            return
        for _ in range(steps):
            self._step()

    @property
    def waits(self) -> list[str]:
        """Operations of the steps so far that wait for the host: such steps are not recorded."""
        return capture.waits(self.programs.update.operations)

    @property
    def how(self) -> str:
        """The way its last steps were computed: ``captured``, or ``one by one`` and why."""
        if self._stepper is not None and not self._stepper.problem:
            return "captured"
        if self.programs.advance is not None:
            return "one by one: the dynamics has an `advance` of its own"
        if self._recorder is None:
            return f"one by one: {capture.SWITCH}=0"
        if self._stepper is not None:
            return f"one by one: {self._stepper.problem}"
        return f"one by one: {', '.join(self.waits)} waits for the host"

    def parameters(self) -> Params:
        """The parameters of every member, ``[M, ...]``."""
        return self.programs.parameters(self.hyper, self.constants, self.state, *self._train())

    def observe(self, params: Params, step: int) -> dict[str, np.ndarray]:
        """Every observable of every member at a step, as columns of length ``M``."""
        taken = torch.tensor(step, dtype=torch.float64, device=self.data["train_inputs"].device)
        given = (self.hyper, self.constants, params, self.data, self.extras, taken)
        state = self.state if self.programs.sees_state else {}
        seen = self.programs.observe(*given, state)
        columns: dict[str, np.ndarray] = {}
        for name, value in seen.items():
            flat = value.detach().reshape(len(self.indices), -1).cpu().numpy()
            names = [name] if value.ndim == 1 else [f"{name}.{k}" for k in range(flat.shape[1])]
            columns |= {key: flat[:, k] for k, key in enumerate(names)}
        return columns

    def forget(self) -> None:
        """Drop what is recorded, as of tensors that are replaced; the next step is not replayed."""
        self._stepper = None

    def keep(self, indices: list[int]) -> None:
        """Go on with the members at these indices of the run; the others are done."""
        own = [self.indices.index(index) for index in indices]
        self.forget()
        self.indices = list(indices)
        self.state, self.hyper = select(self.state, own), select(self.hyper, own)
        self.constants = select(self.constants, own)
        if self.batches.per_member:
            self.data, self.extras = select(self.data, own), select(self.extras, own)
        self.noise.keep(own)
        self.batches.keep(self.data, own)

    def saved(self) -> SavedGroup:
        """All that a later process needs to go on: tensors in nested dicts."""
        indices, step = torch.tensor(self.indices), torch.tensor(self.step)
        batches = self.batches.state()
        return {"places": indices, "state": self.state, "step": step, "batches": batches}

    def restore(self, saved: SavedGroup) -> None:
        """Go on where `saved` was taken.

        Raises:
            RuntimeError: it lacks a tensor, as it was saved by other code.
        """
        if "step" not in saved:  # of code whose noise came from generators
            problem = "its saved state has no step, from which noise follows"
            raise RuntimeError(f"{problem}; remove its folder .state to train from step 0")
        self.step = int(saved["step"])
        self.keep([int(index) for index in saved["places"]])
        self.forget()
        self.state = _filled(self.state, saved["state"], self.data["train_inputs"].device)
        self.batches.restore(saved["batches"])

    def _train(self) -> Batch:
        return self.data["train_inputs"], self.data["train_targets"]

    @property
    def fixed(self) -> list[Tensor]:
        """The data: a draw of the full batch holds these tensors themselves."""
        return list(self._train())

    @property
    def begins_epoch(self) -> bool:
        """True where `begin_epoch` is to be called before the next step."""
        return self.programs.begin_epoch is not None and self.batches.begins_epoch

    def begin_epoch(self) -> Tree:
        """The state in which an epoch begins; without changes of inputs that of now."""
        if self.programs.begin_epoch is None:
            return self.state
        own = (self.hyper, self.constants)
        return self.programs.begin_epoch(*own, self.state, *self._train())

    def draw(self) -> capture.Drawn:
        """Batch of the next step, and its noise or what draws it."""
        inputs, targets = self.batches.next()
        given = self.noise.before(self.step, self._noise_shapes(inputs))
        self.step += 1
        return {"inputs": inputs, "targets": targets, "noise": given}

    def update(self, state: Tree, drawn: capture.Drawn) -> Tree:
        """The state after a step, which uses `state` up."""
        within = self.noise.within(drawn["noise"], self._noise_shapes(drawn["inputs"]))
        batch = (drawn["inputs"], drawn["targets"], within)
        return self.programs.update(self.hyper, self.constants, state, *batch)

    def _step(self) -> None:
        if self.begins_epoch:
            self.state = self.begin_epoch()
        self.state = self.update(self.state, self.draw())

    def _noise_shapes(self, inputs: Tensor) -> dict[str, Shape]:
        """The shape of a member's noise of a batch, for every block that asks for it."""
        shape = tuple(inputs.shape[1:] if self.batches.member_axis == 0 else inputs.shape)
        return {
            path: tuple(size(shape, (shape[0], self.outputs)))
            for path, size in self.programs.noise_shapes.items()
        }


def _filled(tree: Tree, saved: Tree, device: torch.device) -> Tree:
    """`tree` with the tensors of `saved`, which has no entries for empty branches."""
    filled: dict[str, Tensor | Tree] = {}
    for key, value in tree.items():
        part = saved.get(key, {})
        if isinstance(part, Tensor):
            filled[key] = part.to(device)
        elif isinstance(value, Tensor):
            raise RuntimeError(f"its saved state has no tensor {key!r}")
        else:
            filled[key] = _filled(value, part, device)
    return filled
