"""The data set of a task, and the arrays of all members of a run."""

from dataclasses import dataclass, field

import numpy as np

from grokatlas import registry
from grokatlas.engine.contracts import Spec

PARTS = ("train_inputs", "train_targets", "test_inputs", "test_targets")


@dataclass(frozen=True)
class Dataset:
    """Training and test data of one member, or of all of them.

    Attributes:
        train_inputs: ``[N, ...]``, real features or integer tokens.
        train_targets: ``[N]`` integer labels, or ``[N, C]`` real targets; ``[N, C, 1 + D]`` with
            the Jacobian that the task gives beside them.
        test_inputs: as `train_inputs`, other samples.
        test_targets: as `train_targets`.
        outputs: number of outputs ``C`` of a model of these data.
        vocabulary: number of distinct tokens, if inputs are tokens.
        extras: what else the task knows, such as the truth to recover.
        per_member: whether every array has a leading axis ``M``.
    """

    train_inputs: np.ndarray
    train_targets: np.ndarray
    test_inputs: np.ndarray
    test_targets: np.ndarray
    outputs: int
    vocabulary: int | None = None
    extras: dict[str, np.ndarray] = field(default_factory=dict)
    per_member: bool = False

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input, without members and samples."""
        return self.train_inputs.shape[2 if self.per_member else 1 :]

    def arrays(self) -> tuple[dict[str, np.ndarray], dict[str, str]]:
        """The data as arrays and text metadata, for a file."""
        arrays = {part: np.ascontiguousarray(getattr(self, part)) for part in PARTS}
        extras = {f"extra.{key}": np.ascontiguousarray(v) for key, v in self.extras.items()}
        metadata = {"outputs": str(self.outputs), "per_member": str(int(self.per_member))}
        if self.vocabulary is not None:
            metadata["vocabulary"] = str(self.vocabulary)
        return arrays | extras, metadata


def from_arrays(arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> Dataset:
    """The inverse of `Dataset.arrays`."""
    vocabulary = metadata.get("vocabulary")
    prefix = "extra."
    return Dataset(
        **{part: arrays[part] for part in PARTS},
        outputs=int(metadata["outputs"]),
        vocabulary=int(vocabulary) if vocabulary else None,
        extras={k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)},
        per_member=metadata["per_member"] == "1",
    )


def make(tasks: list[Spec]) -> Dataset:
    """The data of a run: one task shared by all members, or one for each, stacked.

    Raises:
        ValueError: a part has no samples, or the members' data differ in shape.
    """
    made = [_build(task) for task in tasks]
    for data, task in zip(made, tasks, strict=True):
        for part in PARTS:
            if not getattr(data, part).shape[0]:
                problem = f"{task['name']} leaves no samples for {part.replace('_', ' ')}"
                raise ValueError(f"{problem}; change its size or its split")
    if len(made) == 1:
        return made[0]
    shapes = {tuple(getattr(data, part).shape for part in PARTS) for data in made}
    if len(shapes) > 1:
        raise ValueError("the members' data differ in shape; use a sweep instead of the ensemble")
    return Dataset(
        **{part: np.stack([getattr(data, part) for data in made]) for part in PARTS},
        outputs=made[0].outputs,
        vocabulary=made[0].vocabulary,
        extras={key: np.stack([data.extras[key] for data in made]) for key in made[0].extras},
        per_member=True,
    )


def _build(task: Spec) -> Dataset:
    keywords = registry.keywords(task)
    dataset: Dataset = registry.load("task", task["name"]).build(**keywords)
    return dataset
