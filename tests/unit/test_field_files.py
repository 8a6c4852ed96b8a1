"""What others look for in a repository: catalogue, citation, CI, forms, release notes.

Every command that these files name exists, and takes what they give it.
"""

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import grokatlas
from grokatlas import cli, cli_commands
from grokatlas.declare import strict_yaml
from tests.checkout import CONFIG, ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
OTHERS = {".", "cd", "docker", "gh", "git", "mkdir", "mv", "pip", "sed", "test"}  # of every runner
TEXTS = (*FORMS, GITHUB / "pull_request_template.md", ROOT / "CODE_OF_CONDUCT.md")


def steps(workflow: Path) -> list[dict[str, Any]]:
    jobs = strict_yaml.load(workflow)["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def commands(workflow: Path) -> list[list[str]]:
    """The words of every command that a workflow runs itself."""
    lines = [line for step in steps(workflow) for line in step.get("run", "").splitlines()]
    parts = [part for line in lines for part in re.split(r"\|\||&&|;", line)]
    return [shlex.split(part) for part in parts]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_every_command_of_a_workflow_exists(workflow):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    found = commands(workflow)
    assert found
    for program, *given in found:
        if program == "grokatlas":
            cli._parser().parse_args(given)
        elif program == "make":
            assert next(each for each in given if not re.match(r"-C|\.\./", each)) in targets
        elif program == "bash":
            assert (ROOT / given[0]).is_file()
        else:
            assert program in OTHERS, program


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_have_a_version_and_jobs_a_limit(workflow):
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", each) for each in used)
    content = strict_yaml.load(workflow)
    assert content["permissions"]
    assert all(job["timeout-minutes"] <= 360 for job in content["jobs"].values())


def test_continuous_integration_runs_what_is_run_here_and_shows_both_branches():
    content = strict_yaml.load(GITHUB / "workflows" / "ci.yml")
    assert set(content["on"]) == {"push", "pull_request"}
    (run,) = [step["run"] for step in content["jobs"]["tests"]["steps"] if "run" in step]
    assert run == "bash .ci/run"
    compared = [each for each in commands(GITHUB / "workflows" / "ci.yml") if "compare" in each]
    assert [each[2:4] for each in compared] == [["$BASE", "$HEAD"], ["before", "results"]]
    *_, drawn = (each[each.index("--markdown") + 1] for each in compared)
    (upload,) = [step for step in steps(GITHUB / "workflows" / "ci.yml") if "upload" in str(step)]
    pictures = [f"{folder}/*/figures/**/*.png" for folder in ("before/results", "results")]
    assert upload["with"]["path"].split() == [drawn, *pictures]


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_with_labels_and_names(form):
    content = strict_yaml.load(form)
    assert content["name"]
    assert content["description"]
    names = [element["id"] for element in content["body"]]
    assert len(names) == len(set(names)) > 1
    for element in content["body"]:
        assert element["type"] in ("input", "textarea", "dropdown", "checkboxes")
        assert element["attributes"]["label"]
        assert element["type"] not in ("dropdown", "checkboxes") or element["attributes"]["options"]


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_forms_name_commands_and_files_that_exist(text):
    content = text.read_text(encoding="utf-8")
    known = {command.name for command in cli_commands.COMMANDS}
    assert set(re.findall(r"`grokatlas ([a-z]+)", content)) <= known
    targets = (ROOT / "Makefile").read_text()
    assert all(f"\n{each}:" in targets for each in re.findall(r"`make ([a-z-]+)`", content))
    for path in re.findall(r"`?((?:docs|config|recorded|src)/[\w/.-]*\w|[A-Z]+\.md)", content):
        assert (ROOT / path).exists(), path


def test_the_catalogue_finds_what_its_standardised_usage_asks_for():
    usage = strict_yaml.load(ROOT / ".snakemake-workflow-catalog.yml")["usage"]
    assert usage["mandatory-flags"]["desc"]
    assert (ROOT / "workflow" / "Snakefile").is_file()
    assert (CONFIG / "README.md").is_file()
    readme = (ROOT / "README.md").read_text(encoding="utf-8").lower()
    assert "snakemake" in readme
    assert "workflow" in readme
    rules = sorted((ROOT / "workflow" / "rules").glob("*.smk"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in rules)
    ways = usage["software-stack-deployment"]
    assert ways["conda"] == (text.count("    conda:\n") == text.count("    shell:\n") > 0)
    environments = set(re.findall(r'conda:\n +"(.*)"', text))
    assert all((rules[0].parent / each).is_file() for each in environments)
    assert ways["report"] == ("report(" in text)


def test_the_citation_names_every_paper_that_is_redrawn():
    cited = strict_yaml.load(ROOT / "CITATION.cff")
    told = {
        (each["title"], each["identifiers"][0]["value"].removeprefix("arXiv:"))
        for each in cited["references"]
    }
    sources = [
        strict_yaml.load(path)["source"] for path in sorted(ROOT.glob("config/papers/*/paper.yaml"))
    ]
    numbers = {source["arxiv"] for source in sources if source.get("arxiv")}
    assert {number for _, number in told} == numbers
    assert len(told) == sum("arxiv" in source for source in sources)


def test_the_citation_is_of_this_version_and_its_day():
    cited = strict_yaml.load(ROOT / "CITATION.cff")
    assert cited["version"] == grokatlas.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {cited['version']} - {cited['date-released']}\n" in changes


def test_every_library_that_is_installed_for_has_its_citation():
    text = (ROOT / "CITATIONS.md").read_text(encoding="utf-8").lower()
    known = {"torch": "pytorch", "pyarrow": "arrow", "jinja2": "jinja", "rocrate": "ro-crate"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.match(r"[\w-]+", each)[0] for each in project["dependencies"]]
    plumbing = {
        "filelock",
        "markdown-it-py",
        "packaging",
        "psutil",
        "pygments",
        "pyyaml",
        "tabulate",
    }
    assert [n for n in names if known.get(n, n) not in text and n not in plumbing] == [
        "snakemake-executor-plugin-slurm",
        "snakemake-logger-plugin-rich",
    ]


def test_every_version_of_the_changelog_has_its_notes():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[?(\d+\.\d+\.\d+)", text, re.MULTILINE)
    notes = {path.stem for path in (ROOT / "docs" / "releases").glob("*.md")}
    assert set(versions) <= notes
    (create,) = [each for each in commands(GITHUB / "workflows" / "release.yml") if each[0] == "gh"]
    assert create[create.index("--notes-file") + 1] == "docs/releases/${GITHUB_REF_NAME#v}.md"


def test_on_the_page_of_a_release_every_link_of_its_notes_is_an_address(tmp_path):
    (step,) = [
        step
        for step in steps(GITHUB / "workflows" / "release.yml")
        if step.get("run", "").startswith("sed")
    ]
    shutil.copytree(ROOT / "docs" / "releases", tmp_path / "docs" / "releases")
    variables = {**os.environ, "FILES": "https://a.b/blob/v1"}
    subprocess.run(["bash", "-c", step["run"]], cwd=tmp_path, env=variables, check=True)
    found = []
    for notes in (tmp_path / "docs" / "releases").glob("*.md"):
        found += re.findall(r"\]\(([^)#]+)", notes.read_text(encoding="utf-8"))
    assert found
    for link in found:
        assert link.startswith("https://"), link
        file = link.removeprefix("https://a.b/blob/v1/")
        assert file == link or (ROOT / file).exists(), link


def test_a_release_publishes_the_pages_and_the_image_where_a_host_switches_them_on():
    jobs = strict_yaml.load(GITHUB / "workflows" / "release.yml")["jobs"]
    for name, right in (("pages", "pages"), ("image", "packages")):
        assert jobs[name]["if"] == f"vars.PUBLISH_{name.upper()} == 'true'"
        assert jobs[name]["needs"] == "release"
        assert jobs[name]["permissions"][right] == "write"
    site = [step.get("with", {}).get("path") for step in jobs["pages"]["steps"]]
    assert "build/site" in site
    # the image is pushed after a figure was made in it, by its one name
    docker = [step["run"].split()[:2] for step in jobs["image"]["steps"] if "run" in step]
    assert [words[1] for words in docker] == ["build", "run", "login", "push"]
    assert sum('"${IMAGE,,}"' in step.get("run", "") for step in jobs["image"]["steps"]) == 3
