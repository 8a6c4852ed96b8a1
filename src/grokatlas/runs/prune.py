"""Remove from ``results`` what no paper declares any more, and what killed jobs left."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from grokatlas import registry
from grokatlas.audit.tree import NO_ARTEFACT_SUFFIXES, Tree
from grokatlas.audit.verify import Report, verify
from grokatlas.cluster import slurm, unlock
from grokatlas.declare.names import CONFIG
from grokatlas.errors import UserError
from grokatlas.plan import declared_jobs
from grokatlas.results import files, layout, locks
from grokatlas.results.ancestry import ancestors
from grokatlas.results.result import Result
from grokatlas.text import file_size

REFUSED = {  # what a run set aside
    f"{layout.STATE}.refused-*": "a state that was set aside",
    f"{layout.REFUSED_LOG}*": "the log of a script that was refused",
}


def prune(dry_run: bool) -> Iterator[str]:
    """Remove orphans, leftovers of killed jobs older than a day, and refused states and logs.

    An orphan is a finished result that no paper declares at any scale and no declared one was made
    from, or a second copy of a result. What is in a declared result's place stays, and so do a
    moved result that is needed and is nowhere else, hidden folders, and files that no job wrote.

    Yields:
        a line for everything that is removed, or stays as it is needed or held, then a summary.
    """
    jobs = declared_jobs.jobs()
    if jobs is None:
        raise UserError("prune", f"no {CONFIG}/ here; run it in a checkout")
    if not dry_run:
        _refuse_running()
    tree = Tree(layout.RESULTS)
    report = verify(tree, jobs)
    total = count = 0
    verb = "would remove" if dry_run else "removed"
    for target, paths, reason in _doomed(tree, report, {*jobs}):
        if not paths:
            yield f"{target}: {reason}"
            continue
        with _unless_held(target, dry_run) as free:
            if not free:
                yield f"{target}: a process holds its lock; it stays"
                continue
            size = sum(map(files.size, paths))
            if not dry_run:
                _remove(paths)
        total, count = total + size, count + 1
        yield f"{verb} {target}: {reason}"
    yield f"{verb} {count} results and leftovers, {file_size(total)}"


def _refuse_running() -> None:
    """Refuse while a workflow runs: it may need what is not declared any more."""
    if pid := unlock.snakemake(Path()):
        raise UserError("prune", f"Snakemake runs here (process {pid}); wait until it has ended")
    if jobs := slurm.workflow_or_none(Path()):
        raise UserError("prune", f"the workflow is in jobs {jobs}; wait until it has ended")
    if unlock.locked(Path()):
        hint = "wait until it has ended, or run `grokatlas unlock` if it was killed"
        raise UserError("prune", f"Snakemake runs in this folder on some machine; {hint}")


def _doomed(
    tree: Tree, report: Report, declared: set[str]
) -> Iterator[tuple[Path, list[Path], str]]:
    """Each result to remove: its name, its files in the order in which they go, and why.

    Of a moved result that stays there are no files, and the reason is why it stays.
    """
    needed = _needed(tree, declared)
    for target, result in sorted(tree.results.items()):
        finding = report.findings.get(result.manifest.name) if result.manifest else None
        if target in declared or registry.hidden(target):
            continue
        if finding and finding.verdict == "orphan":
            home = layout.home(result.sound)
            if home != target and home in needed and not _holds(tree, report, home, result):
                hint = "is other than what is there; remove one of them"
                if not layout.manifest_of(result.kind, Path(home)).exists():
                    hint = "is not in its place; move it there"
                yield Path(target), [], f"is {home}, and {hint}"
            else:
                yield Path(target), _files(tree, result), finding.reason.partition(";")[0]
    for name in sorted(tree.leftovers):
        path = tree.path(name)
        ours = path.name.startswith(".") and not registry.hidden(path.parent)
        if ours and files.is_old(path):
            yield path, [path], "left by a killed job"
    for folder in registry.own_files(layout.run_folder(""), "*"):
        for pattern, reason in REFUSED.items():
            for path in sorted(folder.glob(pattern)):
                yield path, [path], reason


def _needed(tree: Tree, declared: set[str]) -> set[str]:
    """The declared results, and all that those which are here were made from, here or not."""
    here = tree.results
    return {*ancestors(declared, lambda target: here[target].upstream if target in here else ())}


def _holds(tree: Tree, report: Report, home: str, moved: Result) -> bool:
    """Tell if the folder that a moved result belongs to has the same files, all of them sound."""
    there = tree.results.get(home)
    if there is None or there.sound.get("outputs") != moved.sound["outputs"]:
        return False
    return all(
        tree.path(n).is_file() and report.hashes.get(n) == sha for n, sha in there.outputs.items()
    )


def _files(tree: Tree, result: Result) -> list[Path]:
    """A result's files, the manifest first: what is cut short has nothing that vouches for it."""
    records = [record.name for record in (result.manifest, result.job) if record]
    names = [*records, *(name for name in sorted(result.outputs) if name in result.files)]
    paths = [tree.path(name) for name in names]
    folder = Path(result.target)
    if folder.is_dir():
        logs = [f for f in folder.iterdir() if f.name.endswith(("log.txt", *NO_ARTEFACT_SUFFIXES))]
        return [*paths, *sorted(folder.glob(f"{layout.STATE}*")), *sorted(logs)]
    return [*paths, *filter(Path.exists, [layout.beside(folder, ".log")])]


@contextlib.contextmanager
def _unless_held(path: Path, dry_run: bool) -> Iterator[bool]:
    """Hold the lock of the run that a path is of or in; False if a process holds it.

    A dry run makes no lock file: where there is none, no process trains the run.
    """
    parts = path.relative_to(layout.RESULTS).parts
    if parts[0] != "runs" or len(parts) < 2 or not layout.run_folder(parts[1]).is_dir():
        yield True
        return
    file = layout.run_folder(parts[1]) / layout.LOCK
    there = file.exists()
    if dry_run and not there:
        yield True
        return
    with locks.held(file) as held:
        try:
            yield held
        finally:
            if held and not there:
                file.unlink(missing_ok=True)
                _rmdirs(file.parent)


def _remove(paths: list[Path]) -> None:
    """Remove files and folders, and the folders that are empty then."""
    for path in paths:
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise UserError(str(path), f"cannot be removed: {error.strerror or error}") from None
    for folder in {path.parent for path in paths}:
        _rmdirs(folder)


def _rmdirs(folder: Path) -> None:
    """Remove a folder and those above it as far as they are empty, below those of `results`."""
    while len(folder.relative_to(layout.RESULTS).parts) > 1:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
