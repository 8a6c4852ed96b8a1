"""The commit of the code that runs, and whether the sources of a result differ from it.

Contents decide that. The index of git, its settings and its lists of ignored files say what a user
wants to see, not what is there.
"""

import hashlib
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.code import code_digest, module_shape, sources
from grokatlas.registry import PACKAGE

PAPERS = Path("config/papers")  # from which specs are made
PATIENCE = 60.0  # seconds that git may take: a large checkout on a busy network disk


def facts(code: Iterable[str] | None = None) -> dict[str, Any]:
    """The commit of this package's code, as manifests keep it.

    Args:
        code: the modules that a job can reach; those that this process has imported count too. None
            for every module of the package and of the study.

    Returns:
        ``git``: commit, and dirty, if one of the modules, a file that one reads, or a YAML file of
        `PAPERS` differs from the commit or is not in it, and then ``changed``: which. None for
        code outside a git checkout, and where git fails; in the latter case also ``git_problem``:
        why. In a study also ``study``: the same of the study's files.
    """
    package, study = PACKAGE.resolve(), registry.study()
    named = list(registry.modules() if code is None else code)
    files = {file.resolve() for each in code_digest.files(named).values() for file in each}
    imported = map(module_shape.path_of, sources.executed if code is not None else ())
    files |= {file.resolve() for file in imported if file}
    root = package.parents[1]
    is_checkout = package.parent.name == "src" and (root / ".git").exists()
    revision = _commit(root, root, files) if is_checkout else {"git": None}
    if study is not None:
        place = study.resolve()
        top = next((each for each in (place, *place.parents) if (each / ".git").exists()), None)
        revision["study"] = _commit(top, place, files)["git"] if top else None
    return revision


def _commit(root: Path, folder: Path, files: set[Path]) -> dict[str, Any]:
    """The commit of a repository, and which files of a folder in it differ.

    `files` count if they are in this folder; its YAML files of papers count anyway.
    """
    try:
        head = git(root, "rev-parse", "--verify", "--quiet", "HEAD").decode().strip()
        listed = git(root, "ls-tree", "-r", "-z", "--full-tree", head)
    except FileNotFoundError:
        return _unknown("git is not installed here")
    except subprocess.TimeoutExpired:
        return _unknown(f"git did not answer within {PATIENCE:.0f} s")
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines()
        if not said and error.returncode == 1:
            return _unknown("the repository has no commit yet")
        fatal = [line for line in said if line.startswith("fatal: ")]
        last = (fatal or said or [f"exit code {error.returncode}"])[-1]
        return _unknown(f"git failed: {last.removeprefix('fatal: ')}")
    except OSError as error:
        return _unknown(f"git cannot be started: {error.strerror}")
    blobs = {}
    for entry in filter(None, listed.decode("utf-8", "surrogateescape").split("\0")):
        about, name = entry.split("\t", 1)
        blobs[root / name] = about.split()[2]
    papers = folder / PAPERS
    present = {*registry.own_files(papers, "**/*.yaml")}
    committed = {
        file
        for file in blobs
        if file.suffix == ".yaml"
        and file.is_relative_to(papers)
        and not registry.hidden(file.relative_to(papers))
    }
    ours = {file for file in files if file.is_relative_to(folder)} | present | committed
    changed = sorted(f.relative_to(root).as_posix() for f in ours if _differs(f, blobs.get(f)))
    state: dict[str, Any] = {"commit": head, "dirty": bool(changed)}
    return {"git": state | ({"changed": changed} if changed else {})}


def _differs(file: Path, blob: str | None) -> bool:
    """True if a file is not what a commit has, with either ends of lines."""
    try:
        with sources.hashing():
            content = file.read_bytes()
    except OSError:
        return True
    kind = "sha256" if blob and len(blob) == 64 else "sha1"
    texts = (content, content.replace(b"\r\n", b"\n"))
    names = [hashlib.new(kind, b"blob %d\0" % len(text) + text).hexdigest() for text in texts]
    return blob not in names


def _unknown(problem: str) -> dict[str, Any]:
    return {"git": None, "git_problem": problem}


def git(root: Path | None, *arguments: str) -> bytes:
    """The output of git, which writes nothing.

    No variable that names another repository reaches the call. The repository is named, not
    searched for: git does not find one of another user, but uses one that is named. Where it is
    None, git searches from the working directory.
    """
    ambient = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    ambient |= {k: os.environ[k] for k in ("GIT_EXEC_PATH",) if k in os.environ}
    named = [f"--git-dir={root / '.git'}", f"--work-tree={root}"] if root else []
    return subprocess.run(
        ["git", *named, *arguments],
        cwd=root,
        env={**ambient, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    ).stdout
