"""Parts of the workflow that are no modules: in the package's folder, or in the checkout."""

from pathlib import Path

from grokatlas.registry import PACKAGE


def part(name: str) -> Path:
    """A file or folder of the workflow, such as ``profiles``.

    A wheel has it in the package's folder (``hatch_build.py``); otherwise it is in the checkout.
    """
    shipped = PACKAGE / name
    return shipped if shipped.exists() else PACKAGE.parents[1] / name


def snakefile() -> str:
    """The Snakefile of this version, for the ``module`` of a study's Snakefile."""
    return str(part("Snakefile"))
