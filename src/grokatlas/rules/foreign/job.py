"""The job of a run that the engine does not train, from its job file alone."""

import collections
import contextlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas.engine import members
from grokatlas.errors import UserError
from grokatlas.results import files, foreign, freshness, hashing, layout
from grokatlas.results.manifest import ManifestWriter
from grokatlas.results.placeholders import filled
from grokatlas.rules.foreign import log_reader
from grokatlas.rules.jobs import undeclared_reads
from grokatlas.run_store import store as run_store

SHOWN = 5  # last lines of a script that ends with an error


def execute(job_file: Path, job: dict[str, Any], out: Path, device: str) -> None:
    """Import the logs of a run, or run its script; nothing is resumed.

    Args:
        job_file: the run's ``spec.json``.
        job: its content.
        out: folder of history, snapshots (of which there are none) and manifest.
        device: as for `rules.train.execute`.

    Raises:
        UserError: a log is not what is declared, or a script fails.
    """
    if freshness.finished("run", out, job["digest"], []):
        print(f"run {out.name}: is already there", file=sys.stderr)
        return
    undeclared_reads.end()
    writer, spec = ManifestWriter(job, []), job["spec"]
    listed, axes = members.of(spec), members.paths(spec)
    if foreign.IMPORT in spec:
        block = spec[foreign.IMPORT]
        read = _checked(block, listed)
        frame = log_reader.history(block, block["file"], listed, axes)
        writer.note(**{foreign.FILES: read})
    else:
        if spec[foreign.SCRIPT]["gpu"] and device != "cpu":
            from grokatlas.results import gpu_leases

            gpu_leases.take()
        frame = _run_all(spec[foreign.SCRIPT], listed, axes, out)
        writer.note(python=platform.python_version())
    history, snapshots = layout.outputs("run", out)
    files.write_parquet(history, frame)
    files.write_arrays(snapshots, {}, {})
    writer.note(members=len(listed), seeds=axes["seed"])
    writer.write(layout.manifest_of("run", out), [history, snapshots])
    beside = layout.spec_path("run", out)
    if beside.resolve() != job_file.resolve():
        files.write_json(beside, job)
    if foreign.SCRIPT in spec:
        run_store.share(out)


def _checked(block: dict[str, Any], listed: list[dict[str, Any]]) -> dict[str, str]:
    """The files of an import with their hashes, if they are those that are declared."""
    matched: list[Path] = []
    for name in dict.fromkeys(filled(block["file"], member) for member in listed):
        path = Path(name)
        if not path.exists():
            source = " ".join(filter(None, [block["source"], block.get("commit")]))
            raise UserError(name, f"no such file, and it is imported; fetch it from {source}")
        matched += sorted(f for f in path.rglob("*") if f.is_file()) if path.is_dir() else [path]
    sha256 = foreign.files_sha256(matched)
    if sha256 != block["sha256"]:
        what = matched[0] if len(matched) == 1 else f"{matched[0]} and {len(matched) - 1} others"
        problem = f"sha256 is {sha256}, and {block['sha256']} is declared"
        raise UserError(str(what), f"{problem}; fetch the files again, or declare what they are")
    return {file.as_posix(): hashing.file_sha256(file) for file in matched}


def _run_all(
    block: dict[str, Any], listed: list[dict[str, Any]], axes: dict[str, list[Any]], out: Path
) -> Any:
    """The history of all members, each of which is one process in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix=f"grokatlas-{out.name}-") as place:
        folders = [Path(place, str(number)) for number in range(len(listed))]
        parts = []
        for number, (member, folder) in enumerate(zip(listed, folders, strict=True)):
            _copy(block, folder)
            log = folder / filled(block["history"], member)
            with _saved_if_refused(log, out):
                _run(block, member, folder)
                frame = log_reader.history(block, str(log), [member], axes)
                parts.append(frame.assign(member=number))
                log_reader.check_columns(parts, str(log))
                log_reader.check_steps(parts, str(log))
    import pandas as pd

    return pd.concat(parts, ignore_index=True)


@contextlib.contextmanager
def _saved_if_refused(log: Path, folder: Path) -> Iterator[None]:
    """Leave a log in the run's folder that is refused, or whose script ends with an error.

    So what the script computed is not lost. Its name is hidden, as it is no file of the run.
    """
    try:
        yield
    except UserError as error:
        if not log.exists():
            raise
        saved = folder / f"{layout.REFUSED_LOG}{log.name}"
        copy = shutil.copytree if log.is_dir() else shutil.copy2
        shutil.rmtree(saved, ignore_errors=True)
        try:
            copy(log, saved)
            where = f"the log is {saved}"
        except OSError as lost:
            where = f"the log could not be copied to {saved}: {lost.strerror or lost}"
        raise UserError(error.place, f"{error.problem} ({where})") from None


def _copy(block: dict[str, Any], folder: Path) -> None:
    """Copy a script's files, and nothing else, into a working folder."""
    home = Path(block["folder"])
    patterns = [*block["files"], *filter(None, [block.get("environment")])]
    matched = {file for pattern in patterns for file in home.glob(pattern) if file.is_file()}
    if not matched or foreign.files_sha256(matched, home) != block["sources"]:
        problem = "its files changed since the run was planned; run `snakemake` again"
        raise UserError(block["folder"], problem)
    for file in matched:
        target = folder / file.relative_to(home)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the job by an exception, so that it ends the script first."""

    def stop(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    heard = [number for number, handler in before.items() if handler != signal.SIG_IGN]
    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


def _environment() -> dict[str, str]:
    """The environment of a script: that of the job, in which Python finds the script's modules."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}


def _run(block: dict[str, Any], member: dict[str, Any], folder: Path) -> None:
    """Run a script in a folder, its output in the job's log.

    Raises:
        UserError: with its last lines, if it cannot be started, ends with an error, or writes no
            log.
    """
    words = [filled(word, member) for word in shlex.split(block["command"])]
    command, last = shlex.join(words), collections.deque[str](maxlen=SHOWN)
    print(f"{command}: in {folder}", file=sys.stderr, flush=True)
    try:
        with (
            _ended_by_signals(),
            subprocess.Popen(
                words,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=_environment(),
                start_new_session=True,
            ) as process,
        ):
            try:
                for line in process.stdout or ():
                    print(line, end="", file=sys.stderr, flush=True)
                    last += [line.strip()] if line.strip() else []
            except BaseException:  # the job is interrupted: so is the script, with all it started
                os.killpg(process.pid, signal.SIGKILL)
                raise
    except OSError as error:
        raise UserError(command, f"cannot be started: {error.strerror}") from None
    said = f"; its last lines: {' | '.join(last)}" if last else "; it said nothing"
    if process.returncode:
        raise UserError(command, f"ended with {process.returncode}{said}")
    log = filled(block["history"], member)
    if not (folder / log).exists():
        raise UserError(command, f"wrote no {log} in its working folder{said}")
