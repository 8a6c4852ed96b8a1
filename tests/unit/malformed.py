"""A small good paper and its malformed versions: a change, and where and how the error says so."""

from pathlib import Path
from typing import NamedTuple

FILES = {
    "paper.yaml": """\
source:
  title: A title
  arxiv: "2511.01938"
deviations:
  - {where: figure 1, paper: not stated, ours: a rate, why: stable}
defaults:
  loss: {name: mse, reduction: sample_mean, half: false}
figures:
  fig1:
    experiments: [one, two]
    published: {chance: "0.027"}
    caption: What it shows.
""",
    "experiments.yaml": """\
one:
  task: {name: one_sample, point: [1.0], target: 2.0, test_points: 10, test_seed: 0}
  model: {name: linear, negative_slope: 1.0}
  penalties: [{name: l2, weight: 0.1, squared: true}]
  optimizer: {name: gd, lr: 0.1}
  observables: [{name: losses}, {name: norms, orders: [l2]}, {name: accuracies}]
  measures: [{name: grokking_times, train_accuracy: 1.0, test_accuracy: 0.9}]
  train: {steps: 20, log: {every: 5}}
  ensemble: {seed: 2, model.init: [[1.0], [2.0]]}
  smoke: {train: {steps: 5}}
two:
  task: {name: modular_addition, modulus: 5, pairs: ordered, encoding: one_hot,
         train_fraction: 0.5, split_seed: member}
  model: {name: mlp, width: 8, hidden_layers: 1, bias: true, init_law: normal_fan_in,
          init_scale: 1.0, output_scale: 1.0}
  train: {steps: 20}
  sweep: {train.dtype: [float32, float64]}
  cases:
    descent: {optimizer: {name: gd, lr: 0.5}}
    adaptive: {optimizer: {name: adam, lr: 0.2, beta1: 0.9, beta2: 0.99, eps: 1e-8}}
""",
    "claims.yaml": """\
fig1:
  source: text
  claims:
    - id: G4
      statement: the weights come to rest
      published: "0.995"
      value: distance_at_rest
      expected: [null, 1e-3]
    - {id: G6, statement: chance, cell: chance, value: accuracy_at, keywords: {step: 500},
       expected: [0, 0.06], scales: [paper]}
""",
}
ONE, TWO = "experiments.yaml: one.", "experiments.yaml: two."
LINE = "experiments.yaml: line"
FIG1, G6 = "paper.yaml: figures.fig1", "claims.yaml: fig1 (G6)"
_EXPERIMENTS = FILES["experiments.yaml"]
TWO_CASES = _EXPERIMENTS[_EXPERIMENTS.index("  sweep:") :]


def changed(old: str, new: str) -> dict[str, str]:
    """The good files with a change of the one place that it fits."""
    count = sum(text.count(old) for text in FILES.values())
    assert count == 1, f"the change must fit one place, not {count}: {old!r}"
    return {name: text.replace(old, new) for name, text in FILES.items()}


def write_paper(folder: Path, files: dict[str, str] = FILES) -> None:
    """Write a paper's files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


class Bad(NamedTuple):
    """A change of the good paper, and the place and a fragment of the error it must give."""

    name: str
    old: str
    new: str
    place: str
    fragment: str


SYNTAX = [
    Bad(
        "duplicate key",
        "lr: 0.1}",
        "lr: 0.1, lr: 0.2}",
        f"{LINE} 5: one.optimizer.lr",
        "twice",
    ),
    Bad(
        "two experiments of one name",
        "\ntwo:\n",
        "\none:\n",
        f"{LINE} 11: one",
        "twice",
    ),
    Bad(
        "python tag",
        "lr: 0.1",
        "lr: !!python/object:os.system 1",
        f"{LINE} 5",
        "tag tag:yaml.org",
    ),
    Bad(
        "own tag",
        "lr: 0.1",
        "lr: !custom 1",
        f"{LINE} 5",
        "tag !custom is not allowed",
    ),
    Bad(
        "anchor",
        "lr: 0.1",
        "lr: &rate 0.1",
        f"{LINE} 5",
        "anchor &rate is not allowed",
    ),
    Bad(
        "alias",
        "{name: gd, lr: 0.1}",
        "*rate",
        f"{LINE} 5",
        "alias *rate is not allowed",
    ),
    Bad(
        "number as key",
        "lr: 0.1",
        "1: 0.1",
        f"{LINE} 5: one.optimizer",
        "key 1 is not text",
    ),
    Bad(
        "block as key",
        "lr: 0.1",
        "{a: 1}: 0.1",
        f"{LINE} 5: one.optimizer",
        "must be text",
    ),
    Bad("tab", "  title", "\ttitle", "paper.yaml: line 2", "not valid YAML: a tab"),
    Bad(
        "indentation",
        "  train: {steps: 20, log",
        "   train: {steps: 20, log",
        f"{LINE} 8",
        "YAML",
    ),
    Bad("two documents", "figures:", "---\nfigures:", "paper.yaml: line 8", "a second document"),
    Bad(
        "not a number",
        "lr: 0.1",
        "lr: .nan",
        f"{LINE} 5: one.optimizer.lr",
        ".nan is not a fin",
    ),
    Bad(
        "infinity",
        "lr: 0.1",
        "lr: -.INF",
        f"{LINE} 5: one.optimizer.lr",
        "-.INF is not a fin",
    ),
    Bad(
        "overflow",
        "lr: 0.1",
        "lr: 1e999",
        f"{LINE} 5: one.optimizer.lr",
        "1e999 is not a fin",
    ),
    Bad(
        "huge",
        "steps: 5}",
        f"steps: {'9' * 5000}}}",
        f"{LINE} 10: one.smoke.train.steps",
        "at most 92",
    ),
    Bad(
        "deep",
        "lr: 0.1",
        f"lr: {'[' * 99}{']' * 99}",
        f"{LINE} 5",
        "nested too deeply",
    ),
]
KEYS = [
    Bad(
        "top",
        "deviations:",
        "deviation:",
        "paper.yaml: deviation",
        "unknown key; did you mean 'deviations'?",
    ),
    Bad(
        "experiment",
        "  optimizer: {name: gd, lr: 0.1",
        "  optimiser: {name: gd, lr: 0.1",
        f"{ONE}optimiser",
        "did you mean 'optimizer'?",
    ),
    Bad("train", "{steps: 5}", "{step: 5}", f"{ONE}smoke.train.step", "did you mean 'steps'?"),
    Bad("log", "every: 5", "evry: 5", f"{ONE}train.log.evry", "allowed: every, first, points"),
    Bad("keyword", "lr: 0.1}", "rl: 0.1}", f"{ONE}optimizer.rl", "keyword of gd; allowed: lr"),
    Bad(
        "figure",
        "caption:",
        "captions:",
        f"{FIG1}.captions",
        "did you mean 'caption'?",
    ),
    Bad("source", "title:", "titel:", "paper.yaml: source.titel", "did you mean 'title'?"),
    Bad(
        "deviation",
        "why:",
        "reason:",
        "paper.yaml: deviations.0.reason",
        "allowed: claims, code, other_readings, ours",
    ),
    Bad("override", "{train: {steps: 5}}", "{quick: {}}", f"{ONE}smoke.quick", "unknown key"),
    Bad(
        "no source",
        'source:\n  title: A title\n  arxiv: "2511.01938"\n',
        "",
        "paper.yaml: source",
        "missing",
    ),
    Bad("no title", "  title: A title\n", "", "paper.yaml: source.title", "missing; give text"),
    Bad("no steps", "{steps: 20, log: {every: 5}}", "{}", f"{ONE}train.steps", "missing"),
    Bad("no train", "  train: {steps: 20, log: {every: 5}}\n", "", f"{ONE}train.steps", "missing"),
]
MALFORMED = [*SYNTAX, *KEYS]
