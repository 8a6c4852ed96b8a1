"""The two container files: the same environment, by commands that work, and calls that exist.

No engine is needed: `RUN` lines and ``%post`` are run by a shell whose installers only take notes.
hadolint reads the Containerfile in `make lint`.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from grokatlas import cli
from tests.checkout import ROOT, called, program

OCI = (ROOT / "containers/Containerfile").read_text(encoding="utf-8")
APPTAINER = (ROOT / "containers/grokatlas.def").read_text(encoding="utf-8")
PAGE = (ROOT / "docs/installation.md").read_text(encoding="utf-8")
NOTES = '#!/bin/sh\necho "$(basename "$0") $*" >> "$NOTED"\n'


def instructions(text: str) -> list[tuple[str, str]]:
    """Name and argument of each instruction of a Containerfile, lines joined."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines()]


def sections(text: str) -> dict[str, str]:
    """The sections of an Apptainer definition by name; the header's is empty."""
    parts = re.split(r"^%(\w+)\n", "\n" + text, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def arguments() -> dict[str, str]:
    pairs = (argument.split("=") for name, argument in instructions(OCI) if name == "ARG")
    return dict(pairs)


def script(kind: str) -> str:
    if kind == "oci":
        commands = [argument for name, argument in instructions(OCI) if name == "RUN"]
        return (
            "\n".join(f"{name}={value}" for name, value in arguments().items())
            + "\n"
            + ("\n".join(commands))
        )
    text = sections(APPTAINER)["post"]
    for line in sections(APPTAINER)["arguments"].split():
        name, value = line.split("=")
        text = text.replace("{{ " + name + " }}", value)
    assert "{{" not in text
    return text


@pytest.fixture(params=["oci", "apptainer"])
def built(request, tmp_path):
    """What installers were asked for, and a folder in which the rest of the commands ran."""
    programs = tmp_path / "bin"
    for name in ("apt-get", "uv", "git", "rm", "python"):
        program(programs / name, NOTES)
    noted = tmp_path / "noted"
    inside = script(request.param).replace("/usr/local/bin", str(tmp_path))
    env = {"PATH": f"{programs}{os.pathsep}/usr/bin:/bin", "NOTED": str(noted)}
    subprocess.run(["sh", "-euc", inside], env=env, check=True, cwd=tmp_path)
    return noted.read_text().splitlines(), tmp_path


def test_both_install_exactly_the_lock(built):
    asked, _ = built
    uv = arguments()["UV"]
    assert f"python -m pip install --no-cache-dir uv=={uv}" in asked
    installs = [line for line in asked if line.startswith("uv ")]
    lock = "--torch-backend cpu --requirement /opt/requirements.lock"
    assert installs == [f"uv pip install --system --no-cache {lock}"]
    assert "COPY requirements.lock /opt/requirements.lock" in OCI
    assert "requirements.lock /opt/requirements.lock" in sections(APPTAINER)["files"]


def test_git_may_read_the_mounted_checkout_as_results_name_its_commit(built):
    asked, _ = built
    assert any(line.startswith("apt-get install") and " git " in line for line in asked)
    (safe,) = [line for line in asked if line.startswith("git ")]
    assert safe.startswith("git config --system --add safe.directory ")


def test_the_program_of_the_image_is_that_of_the_checkout(built):
    _, folder = built
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    call = [str(folder / "grokatlas"), "explain", "--help"]
    done = called(*call, check=True, cwd=ROOT, env=env)
    assert "explain" in done.stdout


def test_both_are_made_of_the_oldest_python_with_the_same_settings():
    (base,) = [argument for name, argument in instructions(OCI) if name == "FROM"]
    header = dict(line.split(": ") for line in sections(APPTAINER)[""].splitlines() if ": " in line)
    assert base == f"docker.io/library/{header['From']}"
    assert header["From"].startswith("python:3.11-")
    given = dict(line.split("=") for line in sections(APPTAINER)["arguments"].split())
    assert given == arguments()
    (settings,) = [shlex.split(argument) for name, argument in instructions(OCI) if name == "ENV"]
    exported = re.findall(r'export (\w+)="?([^"\n]*)', sections(APPTAINER)["environment"])
    assert dict(exported) == {"PYTHONPATH": "$PWD/src", "SNAKEMAKE_PROFILE": "profiles/workstation"}
    oci = dict(each.split("=") for each in settings)
    assert oci["PYTHONPATH"] == "/atlas/src"
    assert oci["SNAKEMAKE_PROFILE"] == dict(exported)["SNAKEMAKE_PROFILE"]
    assert ("WORKDIR", "/atlas") in instructions(OCI)


def test_what_the_page_calls_in_a_container_exists():
    calls = [shlex.split(line) for line in re.findall(r"^(?:podman|apptainer) .*", PAGE, re.M)]
    inside = [call[call.index("grokatlas") + 1 :] for call in calls if call[1] == "run"]
    inside += [call[3:] for call in calls if call[:2] == ["apptainer", "exec"]]
    assert len(inside) == 3
    for name, *given in inside:
        if name == "grokatlas":
            cli._parser().parse_args(given)
        else:
            assert name == "snakemake"
            target = Path(given[-1])
            assert (
                ROOT / "src/grokatlas/papers" / target.parent.name / f"{target.stem}.py"
            ).is_file()
    for call in calls:
        if "build" in call:
            (file,) = [word for word in call if word.startswith("containers/")]
            assert (ROOT / file).is_file()


def test_another_installer_is_used_for_all(tmp_path):
    command = [
        "make",
        "--dry-run",
        "--always-make",
        ".venv/.installed-docs",
        "INSTALL=uv pip install",
    ]
    done = called(*command, check=True, cwd=ROOT)
    lines = [line for line in done.stdout.splitlines() if "pip install" in line]
    assert len(lines) == 3
    assert all(line.startswith("uv pip install --") for line in lines)
