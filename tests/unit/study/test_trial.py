"""What `grokatlas try` declares and keeps, and what it refuses in one line."""

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from grokatlas import cli, registry
from grokatlas.declare import cells, strict_yaml
from grokatlas.declare.papers import load_papers
from grokatlas.errors import UserError
from grokatlas.plan import remaining
from grokatlas.study.trial import declaration
from tests import cases
from tests.checkout import CONFIG, ROOT
from tests.tiers import every

TEXTS = cases.texts(__file__)

SLOW_TO_END = """
import signal, sys, time
def end(number, _):
    time.sleep(0.3)
    sys.exit(f"ended by {number}")
signal.signal(signal.SIGINT, end)
signal.signal(signal.SIGTERM, end)
print("here", flush=True)
time.sleep(60)
"""


@pytest.fixture
def checkout_here(tmp_path, monkeypatch):
    """The configuration of this checkout in a folder that may be changed."""
    shutil.copytree(CONFIG, tmp_path / "config")
    monkeypatch.chdir(tmp_path)


def specs(folder: Path, paper: str, name: str, scale: str) -> list[dict]:
    declared = load_papers(folder, "all")[paper]
    return [cell.spec for cell in cells.resolve(paper, declared, name, scale)]


TRIED = [
    ("geometry/two_weights", {"optimizer.lr": [0.05, 0.2]}),
    ("geometry/two_weights", {"penalties.0.weight": [0.3], "train.steps": [7]}),
    ("geometry/two_weights", {"seed": [3, 4]}),
    ("geometry/zero_loss_sets", {"optimizer.lr": [0.01], "penalties.0.weight": [0.1, 0.2]}),
    ("grokalign/xor", {"optimizer.lr": [0.3]}),
]


@pytest.mark.usefixtures("checkout_here")
@pytest.mark.parametrize("parent", ["two_weights", "copied"])
def test_a_trial_of_what_starts_from_another_has_that_too(parent):
    file = Path("config/papers/geometry/experiments.yaml")
    second = TEXTS["copied"] + TEXTS["second"].replace("two_weights", parent)
    file.write_text(file.read_text(encoding="utf-8") + second, encoding="utf-8")
    with declaration.declared("geometry/second", {"train.steps": [3, 9]}, "smoke") as folder:
        trial = specs(folder / "config/papers", "trials", "second", "smoke")
    (declared,) = specs(Path("config/papers"), "geometry", "second", "smoke")
    assert trial[1] == declared
    assert trial[0]["start"] == declared["start"]


@pytest.mark.parametrize(
    ("name", "tried", "scale"),
    every(7, [(*each, scale) for each in TRIED for scale in ("smoke", "quick", "paper")]),
)
def test_what_was_tried_may_be_copied_to_its_paper(checkout_here, scale, name, tried):
    paper, _, own = name.partition("/")
    with declaration.declared(name, tried, scale) as folder:
        trial = specs(folder / "config/papers", "trials", own, scale)
    block = (folder / "config/papers/trials/experiments.yaml").read_text()
    with Path(f"config/papers/{paper}/experiments.yaml").open("a") as file:
        file.write(f"\n{block.replace(own, 'better', 1)}")
    assert specs(Path("config/papers"), paper, "better", scale) == trial
    for path, listed in tried.items():
        block = path.partition(".")[0]
        ours = [spec["ensemble"].get(path) or [_at(spec[block], path)] for spec in trial]
        assert {value for each in ours for value in each} == set(listed), path


@pytest.mark.usefixtures("checkout_here")
@pytest.mark.parametrize(
    "name", ["grokalign/transformer_fixed_embedding", "jacobian_alignment/delayed_robustness"]
)
def test_an_experiment_that_is_as_another_is_tried_whole(name):
    paper, _, own = name.partition("/")
    with declaration.declared(name, {"optimizer.lr": [0.3]}, "smoke") as folder:
        trial = specs(folder / "config/papers", "trials", own, "smoke")
    declared = specs(Path("config/papers"), paper, own, "smoke")
    assert {spec["optimizer"].pop("lr") for spec in trial} == {0.3}
    assert {spec["optimizer"].pop("lr") for spec in declared} != {0.3}
    assert trial == declared


def test_a_trial_in_a_study_finds_its_components_and_the_workflow(new_study, monkeypatch):
    tried = {"optimizer.momentum": [0.1]}
    with declaration.declared("my_study/majority", tried, "smoke") as folder:
        pass
    with declaration.declared("my_study/majority", tried, "smoke"):
        monkeypatch.chdir(folder)
    workflow = re.search("snakefile:\n *(.*)", Path("workflow/Snakefile").read_text())
    assert Path(ast.literal_eval(workflow[1])) == ROOT / "Snakefile"
    registry.check_study()
    kinds = Counter(job.kind for job in remaining.at("smoke").jobs)
    assert kinds == {"dataset": 1, "run": 1, "measure": 1, "table": 1, "figure": 1}
    assert registry.path("task", "majority").samefile(new_study / "components/tasks/majority.py")


@pytest.mark.parametrize("inner", ["mine", "mine/trials/majority"])
def test_a_study_of_the_checkout_may_have_trials(inner):
    registry.refuse_inside_package(ROOT / "studies" / inner)
    with pytest.raises(UserError, match="a study cannot be inside"):
        registry.refuse_inside_package(ROOT / "studies" / "mine" / inner)


def test_a_trial_of_runs_of_others_is_refused(monkeypatch):
    """Their files would be looked for where Snakemake runs, which is the folder of the trial."""
    monkeypatch.chdir(ROOT / "studies" / "norm_cap")
    with pytest.raises(UserError, match="norm_cap/s5: is of runs of others"):
        declaration.experiment("norm_cap/s5")


def _at(block, path: str):
    for key in path.split(".")[1:]:
        block = block[int(key)] if isinstance(block, list) else block[key]
    return block


@cases.listed("arguments", "told")
def test_a_mistake_is_one_line_and_changes_nothing(checkout_here, capsys, arguments, told):
    before = {file: file.read_bytes() for file in Path().rglob("*") if file.is_file()}
    assert cli.main(["try", *arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(told)
    assert {file: file.read_bytes() for file in Path().rglob("*") if file.is_file()} == before


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("- quick", "config.yaml: must be a block of keys"),
        ("scale: huge", "config.yaml: scale: "),
        ("data_dir: [1]", "config.yaml: data_dir: "),
    ],
)
def test_wrong_settings_are_one_line(checkout_here, capsys, content, told):
    Path("config/config.yaml").write_text(content)
    assert cli.main(["try", "geometry/two_weights", "--set=optimizer.lr=1"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(told)


def test_a_folder_that_cannot_be_written_is_one_line(checkout_here, capsys):
    Path("trials").write_text("mine")
    assert cli.main(["try", "geometry/two_weights", "--set=optimizer.lr=1"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("trials/geometry-two_weights: cannot be written: ")
    assert Path("trials").read_text() == "mine"


def test_a_trial_finds_the_folders_of_the_checkout(checkout_here):
    Path("config/config.yaml").write_text("data_dir: images\ndevice: cpu\n")
    with declaration.declared("geometry/two_weights", {"optimizer.lr": [1]}, "quick") as folder:
        assert strict_yaml.load(folder / "config/config.yaml") == {
            "scale": "quick",
            "device": "cpu",
            "data_dir": str(Path("images").resolve()),
            "run_store": None,
        }


ONE = "geometry/two_weights"


def test_a_second_trial_at_once_is_refused_and_replaces_nothing(checkout_here, capsys):
    with declaration.declared(ONE, {"optimizer.lr": [0.5]}, "quick") as folder:
        before = {file: file.read_bytes() for file in folder.rglob("*.yaml")}
        assert cli.main(["try", ONE, "--scale", "smoke", "--set=optimizer.lr=0.25"]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("trials/geometry-two_weights: another trial of the experiment runs")
        assert {file: file.read_bytes() for file in folder.rglob("*.yaml")} == before
    with declaration.declared(ONE, {"optimizer.lr": [0.25]}, "smoke"):
        assert {file: file.read_bytes() for file in folder.rglob("*.yaml")} != before


def test_a_trial_beside_another_snakemake_is_refused_and_replaces_nothing(checkout_here, capsys):
    with declaration.declared(ONE, {"optimizer.lr": [0.5]}, "quick") as folder:
        before = {file: file.read_bytes() for file in folder.rglob("*.yaml")}
    (folder / ".snakemake/locks").mkdir(parents=True)
    (folder / ".snakemake/locks/0.output.lock").touch()
    assert cli.main(["try", ONE, "--scale", "smoke", "--set=optimizer.lr=0.25"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "is locked by a Snakemake; if it was killed: (cd trials/geometry-two_weights &&" in line
    assert {file: file.read_bytes() for file in folder.rglob("*.yaml")} == before


def test_outside_of_a_checkout_it_is_one_line(here, capsys):
    assert cli.main(["try", "geometry/two_weights", "--set=optimizer.lr=1"]) == 1
    assert "is no checkout" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "to_all"), [("SIGINT", True), ("SIGTERM", False)])
def test_who_ends_a_trial_gives_snakemake_the_time_to_end(name, to_all):
    number = getattr(signal, name)
    call = "import sys; from grokatlas.study.trial import command; "
    call += "sys.exit(command.followed([sys.executable, '-c', sys.argv[1]]))"
    with subprocess.Popen(
        [sys.executable, "-c", call, SLOW_TO_END],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as trial:
        assert trial.stdout.readline() == "here\n"
        (os.killpg if to_all else os.kill)(trial.pid, number)  # a terminal's Ctrl-C is for all
        _, said = trial.communicate(timeout=30)
    assert said == f"ended by {number}\n"
    assert trial.returncode == 1
