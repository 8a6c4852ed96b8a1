"""The components that docs show work as they stand there: each as one file, nothing else."""

import re
import shutil
from pathlib import Path

import grokatlas
from tests.checkout import python

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("tutorials/method.md", "extending.md")
PROGRAM = """
import torch
from grokatlas.declare import cells
from grokatlas.engine import dataset as datasets, members, training
from grokatlas.declare.models import Paper

paper = Paper.model_validate({
    "source": {"title": "t", "arxiv": "1"},
    "experiments": {"one": {
        "task": {"name": "parity", "bits": 8, "chosen": 2, "train_points": 60, "test_points": 40,
                 "data_seed": "member"},
        "model": {"name": "mlp", "width": 8, "hidden_layers": 1, "bias": True,
                  "init_law": "uniform_fan_in", "init_scale": 1.0, "output_scale": 1.0},
        "loss": {"name": "cross_entropy"},
        "optimizer": {"name": "gd", "lr": 0.5},
        "penalties": [{"name": "elastic_net", "share": 0.5}],
        "observables": [{"name": "margin"}, {"name": "norms", "orders": ["l1"]}],
        "ensemble": {"seed": 2, "penalties.0.weight": [0.0, 0.01]},
        "train": {"steps": 200, "log": {"every": 200}, "dtype": "float64"},
    }},
    "figures": {"fig1": {"experiments": ["one"], "caption": "c"}},
})
(cell,) = cells.resolve("geometry", paper, "one", "paper")
data = datasets.make(members.tasks(cell.spec))
history = training.train(cell.spec, data, torch.device("cpu")).history
margin = history["train_margin"].reshape(2, 4)
norm = history["l1_norm"].reshape(2, 4)
assert (margin[1] > margin[0]).all(), margin
assert (norm[1, 2:] < norm[1, :2]).all(), norm
print(sorted(history))
"""


def test_a_penalty_a_task_and_an_observable_are_one_file_each(tmp_path):
    package = tmp_path / "grokatlas"
    shutil.copytree(grokatlas.__path__[0], package, ignore=shutil.ignore_patterns("__pycache__"))
    blocks = re.findall(
        r"`src/grokatlas/components/(\w+/\w+\.py)`:\n\n```python\n(.*?)```",
        "".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES),
        re.DOTALL,
    )
    assert [path.split("/")[0] for path, _ in blocks] == ["penalties", "tasks", "observables"]
    for path, text in blocks:
        (package / "components" / path).write_text(text)
    done = python("-c", PROGRAM, env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    assert "train_margin" in done.stdout
