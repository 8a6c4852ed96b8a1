"""Which code acts on a folder: in a checkout, the code of that checkout.

One environment may serve several checkouts, such as two clones or worktrees of one user. The
command line of one must not judge, stamp or remove what belongs to another.
"""

import os
import sys
from pathlib import Path

from grokatlas.errors import UserError
from grokatlas.registry import PACKAGE

CHOSEN = "GROKATLAS_CODE"  # environment variable: the package that a caller chose
UNFIT = "{}:"  # braces are a variable to Snakemake, a colon ends a folder of PYTHONPATH


def choose_this() -> None:
    """Let the processes that this one starts keep this code, in whatever folder they run."""
    os.environ[CHOSEN] = str(PACKAGE.resolve())
    keep_libraries()


def keep_libraries() -> None:
    """Let no file of a working directory, such as ``random.py``, hide a library.

    This is for the processes that this one starts: their path begins without that folder.
    """
    os.environ["PYTHONSAFEPATH"] = "1"


def refuse_unfit_path(package: Path = PACKAGE) -> None:
    """Refuse code in a folder that Snakemake and Python cannot name."""
    folder = package.parents[1]
    if signs := [sign for sign in UNFIT if sign in str(folder)]:
        problem = f"has {' and '.join(map(repr, signs))} in its path"
        reason = "which Snakemake or PYTHONPATH takes for something else"
        raise UserError(str(folder), f"{problem}, {reason}; move the folder, or clone anew")


def of_folder(folder: Path) -> Path | None:
    """The package of the checkout in a folder; None where there is none."""
    package = folder / "src" / PACKAGE.name
    is_checkout = (package / "cli.py").is_file() and (folder / "Snakefile").is_file()
    return package.resolve() if is_checkout else None


def run_that_of(folder: Path, arguments: list[str]) -> None:
    """Run a command by the code of the checkout in a folder, if that is not this code.

    Does not return then: this process becomes the other.

    Raises:
        UserError: the other code was asked for before, and this is not it; or it is in a folder
            that Python cannot name.
    """
    keep_libraries()
    wanted, here = of_folder(folder), PACKAGE.resolve()
    chosen = os.environ.get(CHOSEN)
    if wanted in (None, here) or chosen == str(here):
        return
    refuse_unfit_path(wanted)
    if chosen == str(wanted):
        problem = f"is the code of this checkout, and Python imports {here} instead"
        raise UserError(str(wanted), f"{problem}; check PYTHONPATH and the environment")
    print(f"grokatlas: the code of this checkout runs, not {here}", file=sys.stderr, flush=True)
    path = os.pathsep.join(filter(None, [str(wanted.parent), os.environ.get("PYTHONPATH")]))
    variables = {**os.environ, "PYTHONPATH": path, CHOSEN: str(wanted)}
    os.execve(sys.executable, [sys.executable, "-m", PACKAGE.name, *arguments], variables)
