"""The paths of results. The only module that knows names of files and folders.

Everything is below ``results/`` of the working directory.
"""

import re
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.errors import UserError
from grokatlas.results import hashing

RESULTS = Path("results")
SCALES = ("smoke", "quick", "paper")  # from the smallest to the published size
DATA = "data.safetensors"
HISTORY = "history.parquet"
SNAPSHOTS = "snapshots.safetensors"
STATE = ".state"  # of a run that is not finished; what was refused has a longer name
REFUSED_LOG = ".refused-"  # before the name of a script's log that could not be read
LOCK = ".lock"
FOLDERS = ("dataset", "run", "atlas")  # kinds of jobs with a folder of their own; others: a stem
# the folder below `results`, or below a scale, in which each kind of job has its results
_HOMES = {"data": "dataset", "runs": "run", "measures": "measure"}
_HOMES_OF_A_SCALE = {"tables": "table", "figures": "figure", "claims": "claims", "atlas": "atlas"}

_ID = "[0-9a-f]{12}"
_SCALE = f"(?:{'|'.join(SCALES)})"
_NAME = "[a-z0-9_]+"
_TARGETS = {  # of what is handed on, each after what it depends on
    "dataset": f"{RESULTS}/data/{_ID}",
    "run": f"{RESULTS}/runs/{_ID}",
    "measure": f"{RESULTS}/measures/{_ID}/[a-z0-9_-]+",
    "table": f"{RESULTS}/{_SCALE}/tables/{_NAME}/{_NAME}",
    "figure": f"{RESULTS}/{_SCALE}/figures/{_NAME}/{_NAME}",
}
HANDED_ON = tuple(_TARGETS)


def data_folder(dataset: str) -> Path:
    """The folder of a data set."""
    return RESULTS / "data" / dataset


def is_data(name: str | Path) -> bool:
    """True if a file or folder in ``results`` is a data set's."""
    return (RESULTS / "data") in Path(name).parents


def run_folder(run: str) -> Path:
    """The folder of a run."""
    return RESULTS / "runs" / run


def snapshots_of(run: Path) -> Path:
    """The snapshots in a run's folder."""
    return run / SNAPSHOTS


def measure_id(measure: dict[str, Any]) -> str:
    """A measure's file name: its name, and a digest of its keywords if it has any."""
    keywords = registry.keywords(measure)
    return measure["name"] + (f"-{hashing.of(keywords)[:8]}" if keywords else "")


def measure_stem(run: str, measure: str) -> Path:
    """The path of a measure, without suffix."""
    return RESULTS / "measures" / run / measure


def owner_of_table(paper: str, experiment: str) -> tuple[str, str]:
    """The paper whose table it is, and its name there: of another paper's, ``paper/experiment``."""
    owner, _, name = experiment.rpartition("/")
    return owner or paper, name


def case_of_figure(experiment: str, case: str, experiments: int) -> str:
    """A case as a figure of so many experiments calls it; an experiment without cases has one."""
    if experiments == 1:
        return case or experiment
    return f"{experiment}/{case}" if case else experiment


def table_stem(scale: str, paper: str, experiment: str) -> Path:
    """The path of a table, without suffix; see `owner_of_table` for that of another paper."""
    owner, name = owner_of_table(paper, experiment)
    return RESULTS / scale / "tables" / owner / name


def papers_drawn(scale: str) -> set[str]:
    """The names of the papers of which a scale has figures."""
    made = registry.own_files(RESULTS / scale / "figures", "*/*.manifest.json")
    return {manifest.parent.name for manifest in made}


def table_stems(scale: str, paper: str, experiments: list[str]) -> dict[str, Path]:
    """The paths of a figure's tables, without suffix, by the experiment's own name."""
    return {owner_of_table(paper, each)[1]: table_stem(scale, paper, each) for each in experiments}


def figure_stem(scale: str, paper: str, figure: str) -> Path:
    """The path of a figure, without suffix."""
    return RESULTS / scale / "figures" / paper / figure


def claims_stem(scale: str) -> Path:
    """The path of a scale's claims, without suffix."""
    return RESULTS / scale / "claims"


def atlas_folder(scale: str) -> Path:
    """The folder of a scale's pages."""
    return RESULTS / scale / "atlas"


def beside(stem: Path, suffix: str) -> Path:
    """A sibling of a stem whose name may itself contain dots."""
    return stem.with_name(stem.name + suffix)


def spec_path(kind: str, target: Path) -> Path:
    """The job file of a folder (`FOLDERS`) or of a stem (other kinds)."""
    return target / "spec.json" if kind in FOLDERS else beside(target, ".spec.json")


def target_of(job_file: Path) -> Path:
    """The folder or stem whose job file this is: the inverse of `spec_path`."""
    if job_file.name == "spec.json":
        return job_file.parent
    return job_file.with_name(job_file.name.removesuffix(".spec.json"))


def manifest_of(kind: str, target: Path) -> Path:
    """The manifest of a folder or of a stem."""
    if kind in FOLDERS:
        return target / "manifest.json"
    return beside(target, ".manifest.json")


def kind_of(target: Path) -> str:
    """The kind of job that a target (a folder or a stem in ``results``) belongs to."""
    first, *rest = target.relative_to(RESULTS).parts if RESULTS in target.parents else ("",)
    kind = _HOMES.get(first) or (_HOMES_OF_A_SCALE.get(rest[0]) if rest else None)
    if kind is None:
        raise UserError(str(target), "is not the target of a job; give a path in results")
    return kind


def is_published_table(figure: str) -> bool:
    """True if a figure is one of the paper's tables, by its name: text instead of a picture."""
    return figure.startswith("table")


def outputs(kind: str, target: Path) -> list[Path]:
    """The files a job of this kind makes, without its manifest."""
    if kind == "dataset":
        return [target / DATA]
    if kind == "run":
        return [target / HISTORY, target / SNAPSHOTS]
    if kind == "atlas":
        return [target / "index.html"]
    suffixes: tuple[str, ...] = (".parquet",)
    if kind == "claims":
        suffixes = (".csv", ".interpretations.csv")
    if kind == "figure":
        drawn = (".md", ".tex") if is_published_table(target.name) else (".pdf", ".png")
        suffixes = (*drawn, ".csv")
    return [beside(target, suffix) for suffix in suffixes]


def manifest_path(artefact: Path) -> Path:
    """The manifest that vouches for an artefact: the stem's own, else the folder's."""
    for stem in (artefact.stem, artefact.name.partition(".")[0]):
        own = artefact.with_name(stem + ".manifest.json")
        if own.exists():
            return own
    return artefact.with_name("manifest.json")


def owner(name: str) -> tuple[str, str] | None:
    """Kind and target of the result that a file belongs to; None where no job writes."""
    for kind, pattern in _TARGETS.items():
        match = re.fullmatch(rf"({pattern})[/.][a-z.]+", name)
        if match:
            target = Path(match[1])
            files = [*outputs(kind, target), spec_path(kind, target), manifest_of(kind, target)]
            return (kind, match[1]) if name in (f.as_posix() for f in files) else None
    return None


def home(content: dict[str, Any]) -> str | None:
    """The target that a manifest or job file is about; None for a kind unknown here."""
    spec = content["spec"]
    try:
        if content["kind"] == "dataset":
            return data_folder(hashing.of(spec)[:12]).as_posix()
        if content["kind"] == "run":
            return run_folder(hashing.of(spec)[:12]).as_posix()
        if content["kind"] == "measure":
            runs = [name for name in content["inputs"] if name.split("/")[1] == "runs"]
            name = measure_id(spec["measure"])
            return measure_stem(runs[0].split("/")[2], name).as_posix()
        if content["kind"] == "table":
            stem = table_stem(spec["scale"], spec["paper"], spec["experiment"])
            return stem.as_posix()
        if content["kind"] == "figure":
            return figure_stem(spec["scale"], spec["paper"], spec["figure"]).as_posix()
        if content["kind"] == "claims":
            return claims_stem(spec["scale"]).as_posix()
        if content["kind"] == "atlas":
            return atlas_folder(spec["scale"]).as_posix()
    except (KeyError, IndexError, TypeError, AttributeError):
        return ""
    return None
