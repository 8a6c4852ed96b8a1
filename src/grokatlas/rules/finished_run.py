"""A finished run as measures see it."""

from functools import cached_property
from pathlib import Path
from typing import Any

from grokatlas.engine import dataset, record
from grokatlas.results import files, layout


class FinishedRun:
    """A finished run as a measure sees it; everything is read, verified, when first asked for.

    Args:
        run: the run's folder.
        data: the folder of its data set; None for a light measure, which has neither data nor
            snapshots.
    """

    def __init__(self, run: Path, data: Path | None = None) -> None:
        self._run = run
        self._data = data

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The run's spec."""
        spec: dict[str, Any] = files.read_sealed(layout.spec_path("run", self._run))["spec"]
        return spec

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The record of the run's job."""
        manifest: dict[str, Any] = files.read_sealed(layout.manifest_of("run", self._run))
        return manifest

    @cached_property
    def history(self) -> Any:
        """``member``, ``step`` and observables, as a data frame."""
        return files.read_parquet(layout.outputs("run", self._run)[0])

    @cached_property
    def snapshots(self) -> dict[int, dict[str, Any]]:
        """Step -> parameter -> array ``[M, ...]``."""
        self._folder_of_data("snapshots")
        arrays, _ = files.read_arrays(layout.outputs("run", self._run)[1])
        steps: dict[int, dict[str, Any]] = {}
        for key, array in arrays.items():
            step, _, name = key.partition("/")
            if not record.is_state(name):
                steps.setdefault(int(step), {})[name] = array
        return steps

    @cached_property
    def data(self) -> dataset.Dataset:
        """The run's data set."""
        (file,) = layout.outputs("dataset", self._folder_of_data("data"))
        return dataset.from_arrays(*files.read_arrays(file))

    def _folder_of_data(self, what: str) -> Path:
        """The data's folder, where there is one."""
        if self._data is None:
            problem = "a light measure has the history and the manifest alone: take LIGHT away"
            raise ValueError(f"{what}: {problem}")
        return self._data
