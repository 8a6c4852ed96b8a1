"""Conda and pip users get the same versions; the lock holds what the project imports."""

import re
import tomllib

from grokatlas.declare import strict_yaml
from tests.checkout import ROOT


def locked(name: str = "requirements.lock") -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith(("#", "--"))]
    return {name.lower().replace("_", "-"): version for name, version in pairs}


def test_conda_installs_exactly_the_lock():
    environment = strict_yaml.load(ROOT / "environment.yml")
    *conda, pip = environment["dependencies"]
    assert dict(pin.lower().replace("_", "-").split("==") for pin in pip["pip"]) == locked()
    assert conda == ["python >=3.11", "pip", "make"]


def test_every_dependency_is_locked_exactly():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"  # as conda's
    extras = project["optional-dependencies"]
    of_site = set(extras.pop("docs"))  # these have a lock of their own
    names = {re.split(r"[<>=]", each)[0] for each in sum(extras.values(), project["dependencies"])}
    assert names <= set(locked())
    assert all(re.fullmatch(r"[0-9][0-9a-z.]*", version) for version in locked().values())
    beside = locked("requirements-docs.lock")
    assert of_site <= set(beside)
    assert not set(beside) & set(locked())
    assert "\n--constraint requirements.lock\n" in (ROOT / "requirements-docs.lock").read_text()


def test_conda_users_get_the_profile_that_make_sets():
    environment = strict_yaml.load(ROOT / "environment.yml")
    profile = environment["variables"]["SNAKEMAKE_PROFILE"]
    made = f'SNAKEMAKE_PROFILE="$(CURDIR)/{profile}"'
    assert made in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert (ROOT / profile / "config.yaml").is_file()
