"""A study's `study.yaml`: which versions of this package it works with."""

from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import Field

from grokatlas import __version__, registry
from grokatlas.declare import strict_yaml
from grokatlas.declare.model_base import Model
from grokatlas.declare.validation import check_file
from grokatlas.errors import UserError


class Study(Model):
    """`study.yaml`, which makes a folder a study."""

    grokatlas: str = Field(
        description="versions of grokatlas that it works with, as pip writes them: `>=0.1,<0.2`"
    )


def check() -> None:
    """Check the study of the working directory, if it is one: version, modules and their places."""
    root = registry.study()
    if root is None:
        return
    registry.check_study()
    _check_version(root / registry.STUDY)


def _check_version(file: Path) -> None:
    place = f"{file.name}: grokatlas"
    study: Study = check_file(Study, strict_yaml.load(file, file.name), file.name)
    try:
        asked = SpecifierSet(study.grokatlas)
    except InvalidSpecifier:
        problem = f"{study.grokatlas!r} names no versions; write them as pip does: >=0.1,<0.2"
        raise UserError(place, problem) from None
    if not asked.contains(__version__, prereleases=True):
        problem = f"the study asks for {study.grokatlas}, and {__version__} is installed"
        hint = f"pip install 'grokatlas{study.grokatlas}', or change this line"
        raise UserError(place, f"{problem}; {hint}")
