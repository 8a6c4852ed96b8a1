"""The request of a job: minutes, memory, a GPU; from its spec alone, without torch.

Estimated from above, as one core of a CPU would need: a GPU is faster for all but the smallest
runs, and a run that is stopped by its time limit goes on in the next attempt. `docs/performance.md`
compares what is asked with what runs took.
"""

import ast
import math
from dataclasses import dataclass, replace
from typing import Any

from grokatlas import registry
from grokatlas.declare import renaming, signatures
from grokatlas.declare.signatures import defines, fact, signature
from grokatlas.engine import members
from grokatlas.errors import UserError, shown
from grokatlas.results import foreign

LONGEST = 24 * 60  # minutes; queues seldom allow more, and a longer run goes on in the next job
SCRIPT = 60  # minutes of a script, of which nothing is known; `--set-resources` asks for others
SHORTEST = 10  # minutes; Slurm counts in them, and a busy node starts slowly
SPARE = 3  # times the estimate
CALL = 4e-4  # seconds of one step that does nothing: about 100 small operations
COMPILED = 1e-6  # the same where a dynamics has compiled its steps
SPEED = 2e10  # operations per second of a core
START_MB = 1500  # Python with torch, and the two Snakemakes around it
SCRIPT_MB = 2500  # for a script, and for a log that is read
CUDA_MB = 2500  # libraries of a GPU
COPIES = 10  # of parameters: gradients, moments of an optimizer, results of a step
MOVED = 5  # copies of samples and first-layer weights on their way into other coordinates
PASSES = 1000  # over the data, of one measure
COLUMNS = 3  # of one observable
NOISE = 500  # operations of a number of noise, as it is drawn on a core


@dataclass(frozen=True)
class Resources:
    """The request of one job.

    Attributes:
        runtime: minutes.
    """

    runtime: int
    mem_mb: int
    gpu: int = 0

    def at(self, attempt: int) -> "Resources":
        """More at each further attempt, as the one before may have ended for want of it."""
        return Resources(min(self.runtime * attempt, LONGEST), self.mem_mb * attempt, self.gpu)


def of_job(job: Any, device: str = "auto") -> Resources:
    """The request of a run or a measure (`plan.jobs.Job`); no GPU if `device` is ``cpu``."""
    if job.kind == "measure":
        asked = of_measure(job.inputs[0].spec, job.spec["measure"]["name"])
    else:
        asked = of_run(job.spec)
    return replace(asked, gpu=0) if device == "cpu" else asked


def uses_gpu(kind: str, spec: dict[str, Any]) -> bool:
    """Tell if a run or a measure of this spec computes on a GPU where there is one.

    A run does unless its dynamics is compiled for CPUs, a measure if its file says ``GPU = True``.
    """
    if kind == "measure":
        return defines("measures", spec["measure"]["name"], "GPU")
    if foreign.kind(spec):
        return bool(spec.get(foreign.SCRIPT, {}).get("gpu"))
    return not _compiled(spec)


def of_run(spec: dict[str, Any]) -> Resources:
    """The request of a run, by its steps and sizes; of a script nothing is known."""
    if foreign.kind(spec):
        minutes = SCRIPT if foreign.SCRIPT in spec else SHORTEST
        return Resources(minutes, START_MB + SCRIPT_MB, int(uses_gpu("run", spec)))
    return _asked(seconds(spec), size(spec), uses_gpu("run", spec))


def seconds(spec: dict[str, Any]) -> float:
    """The time of a run on one core: of its steps, and its looks at the whole training set."""
    if foreign.kind(spec):
        return 0.0
    run, train = size(spec), spec["train"]
    costly = registry.entries(spec, ("loss", "dynamics", "penalties"))
    costs = [float(stated(block, entry, "cost") or 1) for _, block, entry in costly]
    batch = train.get("batch_size", run.samples)
    drawn = NOISE * run.members * noise(spec, run.parameters, int(batch))
    step = (COMPILED if _compiled(spec) else CALL) + (run.operations(batch) + drawn) / SPEED
    look = CALL + run.operations(run.samples) / SPEED
    looks = _logs(train) * len(spec.get("observables", []))
    return math.prod(costs) * step * train["steps"] + look * looks


def noise(spec: dict[str, Any], parameters: int, batch: int) -> int:
    """Numbers of noise that a member's model, optimizer and gradients take in a step."""
    return sum(count for _, count in signatures.noise(spec, parameters, batch))


def _compiled(spec: dict[str, Any]) -> bool:
    return defines("dynamics", spec["dynamics"]["name"], "advance")


def of_measure(spec: dict[str, Any], measure: str) -> Resources:
    """The request of a measure of a run of this spec."""
    gpu = uses_gpu("measure", {"measure": {"name": measure}})
    return _asked(measure_seconds(spec), size(spec), gpu)


def measure_seconds(spec: dict[str, Any]) -> float:
    """The time of a measure of a run of this spec, on one core."""
    run = size(spec)
    return PASSES * run.snapshots * run.operations(run.samples) / SPEED


def bytes_written(spec: dict[str, Any]) -> int:
    """The size of a run's history and snapshots, twice, as its state holds them until it ends."""
    if foreign.kind(spec):
        return 0
    run, train = size(spec), spec["train"]
    snapshots = run.members * run.parameters * run.snapshots * run.itemsize
    columns = 2 + COLUMNS * len(spec.get("observables", []))
    return 2 * (snapshots + _logs(train) * run.members * columns * 8)


@dataclass(frozen=True)
class Size:
    """A run in numbers.

    Attributes:
        members: trajectories.
        snapshots: steps whose parameters are kept.
        samples: of the training set.
        inputs: features of one, or the size of its vocabulary.
        parameters: of one member.
        places: of a sample where an inner layer is used.
        itemsize: bytes of a number.
        moved: numbers of samples and of a first layer in all coordinates, where the run trains in
            those of a span.
    """

    members: int
    snapshots: int
    samples: int
    inputs: int
    parameters: int
    places: int
    itemsize: int
    moved: int = 0

    def operations(self, batch: float) -> float:
        """The work of a step of all members: a product and a sum each way, and for the gradient."""
        return 6 * self.members * self.parameters * self.places * batch

    def megabytes(self) -> float:
        """The memory of parameters, snapshots and data."""
        copies = COPIES + 3 * self.snapshots
        values = self.members * self.parameters * copies + 4 * self.samples * self.inputs
        return (values * self.itemsize + 8 * MOVED * self.moved) / 1e6


def size(spec: dict[str, Any]) -> Size:
    """A run's size, by what its task and its model say of themselves (`signatures.fact`)."""
    model, data = spec.get("model"), data_size(spec)
    samples, inputs = data["samples"], data["vocabulary"] or math.prod(data["shape"])
    parameters = value("model", model, "parameters", data) if model else 0
    if model and not isinstance(parameters, int | float):
        place = f"{registry.shown_component('model', model['name'])}: parameters"
        raise UserError(place, f"returns {shown(parameters)}; return their number")
    moved = 0
    if model and "coordinates" in spec["train"]:
        fewer = data | {"shape": (inputs - 1,)}
        units = parameters - value("model", model, "parameters", fewer)
        spanned = samples + test_samples(spec) + units
        if spanned < inputs:
            moved, parameters = spanned * inputs, parameters - units * (inputs - spanned)
            inputs = spanned
    return Size(
        members=len(members.of(spec)),
        snapshots=len(spec["train"]["snapshots"]),
        samples=samples,
        inputs=inputs,
        parameters=int(parameters),
        places=(fact("model", model["name"], "PLACES") if model else 0) or 1,
        itemsize=8 if spec["train"]["dtype"] == "float64" else 4,
        moved=moved,
    )


def data_size(spec: dict[str, Any]) -> dict[str, Any]:
    """Shapes of a run's data, as its task's function ``size`` says them."""
    sizes = value("task", spec["task"], "size")
    if not isinstance(sizes, dict) or not {"samples", "shape", "outputs"} <= sizes.keys():
        place = f"{registry.shown_component('task', spec['task']['name'])}: size"
        wanted = '{"samples": 30, "shape": (5,), "outputs": 2}'
        raise UserError(place, f"returns {shown(sizes)}; return a dictionary such as {wanted}")
    return {"vocabulary": 0, **sizes}


def test_samples(spec: dict[str, Any]) -> int:
    """The number of test samples of a run, by the keywords of its task and their types.

    A ``Fraction`` is the training set's share of all samples, and a ``Count`` that begins with
    ``test_`` a number of test samples; without either they are as many as those of the training
    set.
    """
    entry = renaming.today("task", spec["task"])
    types = {key: ast.unparse(a) for key, a in signature("task", entry["name"]).keywords.items()}
    train = data_size(spec)["samples"]
    if shares := [key for key in entry if types.get(key) == "Fraction"]:
        return int(data_size({"task": entry | dict.fromkeys(shares, 1)})["samples"]) - train
    counts = [k for k in entry if types.get(k) == "Count" and k.startswith("test_")]
    return sum(entry[key] for key in counts) if counts else int(train)


def value(block: str, entry: dict[str, Any], what: str, *known: Any) -> Any:
    """The value that a function of a component's file returns; None where it has none."""
    return fact(block, entry["name"], what, *known, **registry.keywords(entry))


def stated(block: str, entry: dict[str, Any], what: str) -> Any:
    """The number that a component's file states: of a function ``cost``, or its constant ``COST``.

    None where it states none.
    """
    return value(block, entry, what) or fact(block, entry["name"], what.upper())


def _logs(train: dict[str, Any]) -> int:
    log = train["log"]
    return log["points"] if "points" in log else log["first"] + train["steps"] // log["every"]


def _asked(seconds: float, run: Size, gpu: bool) -> Resources:
    minutes = min(max(math.ceil(SPARE * seconds / 60), SHORTEST), LONGEST)
    memory = START_MB + CUDA_MB * gpu + run.megabytes()
    return Resources(minutes, math.ceil(memory), int(gpu))
