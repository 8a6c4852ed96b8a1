"""``grokatlas benchmark``: enter a method, check a submission, write the page of all rows."""

import contextlib
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from grokatlas.audit import commands
from grokatlas.declare import strict_yaml
from grokatlas.declare.models import EXPERIMENTS
from grokatlas.declare.names import PAPERS
from grokatlas.declare.settings import load_settings
from grokatlas.errors import UserError
from grokatlas.export import adoption, archive, sources
from grokatlas.plan import remaining, resources
from grokatlas.results import files
from grokatlas.study import shipped
from grokatlas.study.benchmark import judging, page, picture, protocol
from grokatlas.study.benchmark.entry import METHODS, PAPER_NAME, SETTINGS, Entry, tasks_of
from grokatlas.study.benchmark.protocol import Protocol
from grokatlas.study.trial.command import followed

START = 4.0  # seconds of a core that a job takes beside its training, about
ROWS, SUBMISSION, PICTURE = "rows.csv", "submission.zip", "benchmark.png"


def add(file: Path, tasks: str | None, scale: str, folder: Path | None, dry_run: bool) -> int:
    """Train the methods of a file on tasks, judge them among the recorded rows, pack all of it.

    Args:
        file: of methods, as `config/benchmark/methods.yaml`.
        tasks: names, such as ``xor,sparse``; all for None.
        scale: quick or paper, or smoke for a trial.
        folder: the study that is made; ``benchmark-`` and the file's name for None.
        dry_run: end before anything is trained.

    Returns:
        0, or the exit code of Snakemake.
    """
    rules = protocol.load()
    entry = _entry(rules, file, rules.chosen(tasks), scale)
    folder = folder or Path(f"benchmark-{file.stem.replace('_', '-')}")
    entry.write(folder)
    with contextlib.chdir(folder):
        print(f"{folder}: {_forecast(scale, str(file))}", flush=True)
        if dry_run:
            return 0
        while True:  # a grid is extended a few times at most
            if code := followed(_snakemake(entry.tables())):
                return code
            if not entry.extend():
                break
            print("some knobs are best at an end of their grid, which gets one further value")
            entry.write(Path())
        if code := followed(_snakemake([])):  # figures and pages, once
            return code
        _report(rules, entry)
        print(archive.pack(Path(SUBMISSION), scale, tables_only=False))
    print(f"made {folder}: {ROWS}, {PICTURE} and {SUBMISSION}, for `grokatlas benchmark check`")
    return 0


def check(file: Path) -> int:
    """Check a submission: its files, the study that it declares, and its row.

    Returns:
        0; a `UserError` names the first file that does not hold.
    """
    rules, path = protocol.load(), file.resolve()
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        print(adoption.adopt(path, replace=False).partition("\n")[0])
        _unpack_sources(path)
        tasks = tasks_of(strict_yaml.load(_declared(EXPERIMENTS)))
        scale = load_settings(SETTINGS, {}).scale
        entry = Entry(rules, rules.read(METHODS), rules.chosen(",".join(tasks)), scale, str(file))
        while entry.extend():
            pass
        for name, text in entry.texts().items():
            if _declared(name).read_text(encoding="utf-8") != text:
                problem = f"is not what benchmark {rules.version} makes of {METHODS}"
                raise UserError(f"{file}: {_declared(name)}", f"{problem}; make it with `add`")
        if commands.verify([], Path("results"), None, strict=False):
            raise UserError(str(file), "does not hold: a file above is not ok; see docs/audit.md")
        _report(rules, entry)
    return 0


def write_page(out: Path, scale: str, further: list[Path]) -> str:
    """Write the table of all recorded rows, and of further ones, as a page.

    Args:
        out: ends in .html; or a Markdown file with the marks of the table, which is replaced, and
            beside which the pictures of further rows are brought.
        scale: of the rows.
        further: files `ROWS` of entries.

    Returns:
        a line on it.
    """
    rules = protocol.load()
    entries = [(_rows(path, rules, scale), str(path.parent)) for path in further]
    rows = _merged(recorded(scale), entries)
    if rows.empty:
        raise UserError(str(out), f"no rows are recorded at scale {scale}; give some: --rows FILE")
    cells = judging.compared(rows, rules)
    if out.suffix != ".html":
        page.around(out, scale)  # refuses a file without marks before a picture is brought
        picture.bring(rows, scale, page.pictures(out, scale))
    files.write_text(out, page.text(out, cells, rows, rules, scale))
    return f"wrote {out}: {cells['method'].nunique()} methods on {cells['task'].nunique()} tasks"


def recorded(scale: str) -> pd.DataFrame:
    """The recorded rows of a scale, as `judging.rows` makes them; none at some scales."""
    file = shipped.part(protocol.FOLDER) / f"rows-{scale}.csv"
    return pd.read_csv(file) if file.is_file() else pd.DataFrame(columns=judging.COLUMNS)


def _rows(file: Path, rules: Protocol, scale: str) -> pd.DataFrame:
    """The rows that `add` wrote into a file; a `UserError` where it holds others."""
    todo = f"give the {ROWS} of an entry that was made at scale {scale}"
    settings = file.parent / SETTINGS
    if (file.parent / PAPERS / PAPER_NAME).is_dir() and (
        own := load_settings(settings, {}).scale
    ) != scale:
        raise UserError(str(file), f"has the rows of scale {own}; {todo}")
    try:
        rows = pd.read_csv(file, dtype=judging.KINDS)
    except (OSError, ValueError) as error:
        raise UserError(str(file), f"holds no rows: {error}; {todo}") from None
    lacking = [f"column {column}" for column in judging.KINDS if column not in rows]
    if problem := next(iter(lacking or ([] if len(rows) else ["row"])), ""):
        raise UserError(str(file), f"has no {problem}; {todo}")
    both = (recorded(scale), rows)
    based = {task for each in both for task in each.loc[each["method"] == rules.baseline, "task"]}
    for (task, method), own in rows.groupby(["task", "method"]):
        place = f"{method} on {task}"
        if task not in based & {*rules.tasks}:
            raise UserError(str(file), f"{place}: a task without {rules.baseline}; {todo}")
        if sorted(own["seed"]) != sorted(rules.judge):
            raise UserError(str(file), f"{place}: has other seeds than {rules.judge}; {todo}")
        costs = own[[*judging.UNITS]].to_numpy()
        if not (np.isfinite(costs) & (costs > 0)).all():
            problem = f"{' and '.join(judging.UNITS)} must be finite and above 0"
            raise UserError(str(file), f"{place}: {problem}; {todo}")
    return rows


def _entry(rules: Protocol, file: Path, tasks: list[str], scale: str) -> Entry:
    """The methods of a file, and the baseline where its rows are not recorded."""
    methods, known = rules.read(file), recorded(scale)
    based = known.loc[known["method"] == rules.baseline, "task"]
    if rules.baseline not in methods and not {*tasks} <= {*based}:
        ours = rules.read(shipped.part(protocol.FOLDER) / "methods.yaml")
        methods = {rules.baseline: ours[rules.baseline], **methods}
    return Entry(rules, methods, tasks, scale, str(file))


def _declared(name: str) -> Path:
    return PAPERS / PAPER_NAME / name


def _snakemake(targets: list[str]) -> list[str]:
    profile = str(shipped.part("profiles/workstation"))
    return [sys.executable, "-m", "snakemake", "--profile", profile, "--", *targets]


def _forecast(scale: str, place: str) -> str:
    """The runs that are left and their time by the formula, which is an upper limit for most.

    Runs of further values of a knob are not known yet.
    """
    try:
        jobs = remaining.unmade(remaining.at(scale).jobs)
    except UserError as error:
        raise UserError(place, f"{error.place}: {error.problem}") from None
    runs = [resources.seconds(job.spec) for job in jobs if job.kind == "run"]
    minutes = (sum(runs) + START * len(jobs)) / 60 / (os.cpu_count() or 1)
    took = f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.0f} h"
    return f"{len(runs)} runs to train, about {took} or less on {os.cpu_count()} cores"


def _report(rules: Protocol, entry: Entry) -> None:
    """Write and print the rows of an entry, and draw them among the recorded ones."""
    rows = judging.rows(entry.trials(), entry.grids, rules)
    rows.to_csv(ROWS, index=False)
    cells = judging.compared(_merged(recorded(entry.scale), [(rows, "")]), rules)
    cells = cells[cells["task"].isin(entry.tasks)]
    picture.save(cells, [*entry.methods], rules, Path(PICTURE))
    for line in _lines(cells[cells["method"].isin(entry.methods)]):
        print(line)


def _lines(cells: pd.DataFrame) -> Iterator[str]:
    """The cells as lines."""
    shown = pd.DataFrame(
        {
            "task": cells["task"],
            "method": cells["method"],
            "in": cells["unit"],
            "time": cells["time"].map("{:.3g}".format),
            "over the baseline": [page.interval(cell) for cell in cells.itertuples()],
            "verdict": cells["verdict"],
            "rank": [page.rank(cell) for cell in cells.itertuples()],
            "generalised": [page.reached(cell) for cell in cells.itertuples()],
            "knob": [page.knob(cell) for cell in cells.itertuples()],
        }
    )
    yield from shown.to_string(index=False).splitlines()


def _merged(rows: pd.DataFrame, further: list[tuple[pd.DataFrame, str]]) -> pd.DataFrame:
    """Rows with further ones in place of those of the same task and method."""
    for entry_rows, place in further:
        keys = pd.MultiIndex.from_frame(entry_rows[["task", "method"]])
        old = pd.MultiIndex.from_frame(rows[["task", "method"]]).isin(keys)
        parts = [part for part in (rows[~old], entry_rows.assign(place=place)) if len(part)]
        rows = pd.concat(parts, ignore_index=True)
    return rows


def _unpack_sources(file: Path) -> None:
    """Write the sources of an archive that was found sound here; their names lead nowhere else."""
    with zipfile.ZipFile(file) as opened:
        for name in filter(sources.holds, opened.namelist()):
            target = Path(name).relative_to(sources.FOLDER)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(opened.read(name))
