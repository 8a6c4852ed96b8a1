"""The commit of the code that runs, and whether files were changed since."""

import os
import subprocess
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.registry import PACKAGE

# what can change a number or a picture; results, docs and tests cannot
SOURCES = ("src", "config", "workflow", "Snakefile", "profiles", "requirements.lock")
SOURCES += ("pyproject.toml",)
OF_STUDY = (*registry.ROOMS, "config", "Snakefile", registry.STUDY, "profiles")
PATIENCE = 60.0  # seconds: a large checkout on a busy network disk


def facts() -> dict[str, Any]:
    """The commit of this package's code, as manifests keep it.

    Returns:
        ``git``: commit, and dirty, if a file of `SOURCES` differs from the commit or is not in it;
        None for code outside a git checkout, and where git fails. In the latter case also
        ``git_problem``: why. In a study that is the root of a repository also ``study``: the same
        of the study's files (`OF_STUDY`).
    """
    package, study = PACKAGE.resolve(), registry.study()
    root = package.parents[1]
    is_checkout = package.parent.name == "src" and (root / ".git").exists()
    found = _commit(root, SOURCES) if is_checkout else {"git": None}
    if study is not None and (study / ".git").exists():
        found["study"] = _commit(study, OF_STUDY)["git"]
    return found


def _commit(root: Path, sources: tuple[str, ...]) -> dict[str, Any]:
    try:
        lines = _status(root, sources).splitlines()
    except FileNotFoundError:
        return _unknown("git is not installed here")
    except subprocess.TimeoutExpired:
        return _unknown(f"git did not answer within {PATIENCE:.0f} s")
    except subprocess.CalledProcessError as error:
        said = [f"exit code {error.returncode}", *error.stderr.strip().splitlines()]
        fatal = [line for line in said if line.startswith("fatal: ")]
        return _unknown(f"git failed: {(fatal or said)[-1].removeprefix('fatal: ')}")
    except OSError as error:
        return _unknown(f"git cannot be started: {error.strerror}")
    head = [line.split() for line in lines if line.startswith("# branch.oid ")]
    commit = head[0][-1] if head else "(unknown)"
    if commit.startswith("("):
        return _unknown("the repository has no commit yet")
    return {"git": {"commit": commit, "dirty": any(line[0] != "#" for line in lines)}}


def _unknown(problem: str) -> dict[str, Any]:
    return {"git": None, "git_problem": problem}


def _status(root: Path, sources: tuple[str, ...]) -> str:
    """What git says of the commit and of changed files below some folders.

    The repository is named, not searched for: git does not find one of another user, but uses one
    that is named. No variable that names another repository reaches the call. It writes nothing.
    """
    ambient = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    ambient |= {k: os.environ[k] for k in ("GIT_EXEC_PATH",) if k in os.environ}
    command = ["git", f"--git-dir={root / '.git'}", f"--work-tree={root}"]
    command += ["-c", "core.fsmonitor=false", "-c", "status.aheadBehind=false", "status"]
    command += ["--porcelain=v2", "--branch", "--untracked-files=normal", "--", *sources]
    done = subprocess.run(
        command,
        cwd=root,
        env={**ambient, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=True,
        timeout=PATIENCE,
    )
    return done.stdout
