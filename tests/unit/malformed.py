"""A small good paper and its malformed versions: a change, and where and how the error says so."""

from typing import NamedTuple

PAPER = """\
source:
  title: A title
  arxiv: "2511.01938"
deviations:
  - {where: figure 1, paper: not stated, ours: a rate, why: stable}
defaults:
  loss: {name: mse, reduction: sample_mean, half: false}
experiments:
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
figures:
  fig1:
    experiments: [one, two]
    caption: What it shows.
claims:
  - id: G4
    statement: the weights come to rest
    place: figure 1
    source: text
    published: "0.995"
    figure: fig1
    value: distance_at_rest
    expected: [null, 1e-3]
  - {id: G6, statement: chance, place: figure 4, source: text, published: "0.027", figure: fig1,
     value: accuracy_at, keywords: {step: 500}, expected: [0, 0.06], scales: [paper]}
"""
ONE, TWO = "experiments.one.", "experiments.two."
TWO_CASES = PAPER[PAPER.index("    sweep:") : PAPER.index("figures:")]


class Bad(NamedTuple):
    """A change of the good paper, and the place and a fragment of the error it must give."""

    name: str
    old: str
    new: str
    place: str
    fragment: str


SYNTAX = [
    Bad("duplicate key", "lr: 0.1}", "lr: 0.1, lr: 0.2}", f"line 13: {ONE}optimizer.lr", "twice"),
    Bad("two experiments of one name", "  two:\n", "  one:\n", "line 19: experiments.one", "twice"),
    Bad("python tag", "lr: 0.1", "lr: !!python/object:os.system 1", "line 13", "tag tag:yaml.org"),
    Bad("own tag", "lr: 0.1", "lr: !custom 1", "line 13", "tag !custom is not allowed"),
    Bad("anchor", "lr: 0.1", "lr: &rate 0.1", "line 13", "anchor &rate is not allowed"),
    Bad("alias", "{name: gd, lr: 0.1}", "*rate", "line 13", "alias *rate is not allowed"),
    Bad("number as key", "lr: 0.1", "1: 0.1", f"line 13: {ONE}optimizer", "key 1 is not text"),
    Bad("block as key", "lr: 0.1", "{a: 1}: 0.1", f"line 13: {ONE}optimizer", "must be text"),
    Bad("tab", "  title", "\ttitle", "line 2", "not valid YAML: a tab"),
    Bad(
        "indentation", "    train: {steps: 20, log", "   train: {steps: 20, log", "line 16", "YAML"
    ),
    Bad("two documents", "figures:", "---\nfigures:", "line 29", "a second document"),
    Bad("not a number", "lr: 0.1", "lr: .nan", f"line 13: {ONE}optimizer.lr", ".nan is not a fin"),
    Bad("infinity", "lr: 0.1", "lr: -.INF", f"line 13: {ONE}optimizer.lr", "-.INF is not a fin"),
    Bad("overflow", "lr: 0.1", "lr: 1e999", f"line 13: {ONE}optimizer.lr", "1e999 is not a fin"),
    Bad(
        "huge",
        "steps: 5}",
        f"steps: {'9' * 5000}}}",
        f"line 18: {ONE}smoke.train.steps",
        "at most 92",
    ),
    Bad("deep", "lr: 0.1", f"lr: {'[' * 99}{']' * 99}", "line 13", "nested too deeply"),
]
KEYS = [
    Bad("top", "deviations:", "deviation:", "deviation", "unknown key; did you mean 'deviations'?"),
    Bad(
        "experiment",
        "    optimizer: {name: gd, lr: 0.1",
        "    optimiser: {name: gd, lr: 0.1",
        f"{ONE}optimiser",
        "did you mean 'optimizer'?",
    ),
    Bad("train", "{steps: 5}", "{step: 5}", f"{ONE}smoke.train.step", "did you mean 'steps'?"),
    Bad("log", "every: 5", "evry: 5", f"{ONE}train.log.evry", "allowed: every, first, points"),
    Bad("keyword", "lr: 0.1}", "rl: 0.1}", f"{ONE}optimizer.rl", "keyword of gd; allowed: lr"),
    Bad("figure", "caption:", "captions:", "figures.fig1.captions", "did you mean 'caption'?"),
    Bad("source", "title:", "titel:", "source.titel", "did you mean 'title'?"),
    Bad(
        "deviation", "why:", "reason:", "deviations.0.reason", "allowed: claims, code, ours, paper"
    ),
    Bad("override", "{train: {steps: 5}}", "{quick: {}}", f"{ONE}smoke.quick", "unknown key"),
    Bad("no source", 'source:\n  title: A title\n  arxiv: "2511.01938"\n', "", "source", "missing"),
    Bad("no title", "  title: A title\n", "", "source.title", "missing; give text"),
    Bad("no steps", "{steps: 20, log: {every: 5}}", "{}", f"{ONE}train.steps", "missing"),
    Bad(
        "no train", "    train: {steps: 20, log: {every: 5}}\n", "", f"{ONE}train.steps", "missing"
    ),
]
VALUES = [
    Bad(
        "quoted number",
        "lr: 0.1",
        "lr: '1e-3'",
        f"{ONE}optimizer.lr",
        '"1e-3" is not allowed: must be a number > 0; it is text: remove the quotes',
    ),
    Bad("underscores", "steps: 5", "steps: 1_000", f"{ONE}smoke.train.steps", "text: write 1000"),
    Bad("decay of 1", "beta1: 0.9", "beta1: 1.0", f"{TWO}cases.adaptive.optimizer.beta1", "< 1"),
    Bad(
        "decay of 1 for a member",
        "eps: 1e-8}}",
        "eps: 1e-8}, ensemble: {optimizer.beta1: [0.9, 1.0]}}",
        f"{TWO}cases.adaptive.ensemble.optimizer.beta1",
        "< 1",
    ),
    Bad("text", "lr: 0.1", "lr: fast", f"{ONE}optimizer.lr", '"fast" is not allowed'),
    Bad("boolean as number", "lr: 0.1", "lr: true", f"{ONE}optimizer.lr", "true is not allowed"),
    Bad("yes", "squared: true", "squared: yes", f"{ONE}penalties.0.squared", "true or false"),
    Bad("boolean as steps", "steps: 5", "steps: true", f"{ONE}smoke.train.steps", "true is not"),
    Bad("negative steps", "steps: 5", "steps: -5", f"{ONE}smoke.train.steps", "whole number >= 1"),
    Bad("zero steps", "steps: 5", "steps: 0", f"{ONE}smoke.train.steps", "0 is not allowed"),
    Bad("float steps", "steps: 5", "steps: 1e3", f"{ONE}smoke.train.steps", "write 1000"),
    Bad("zero rate", "lr: 0.2,", "lr: 0,", f"{TWO}cases.adaptive.optimizer.lr", "a number > 0"),
    Bad("fraction", "fraction: 0.5", "fraction: 1", f"{TWO}task.train_fraction", "> 0 and < 1"),
    Bad("literal", "one_hot", "onehot", f"{TWO}task.encoding", "did you mean 'one_hot'?"),
    Bad("literal in list", "[l2]", "[l3]", f"{ONE}observables.1.orders", "l1, l2 or nuclear"),
    Bad("empty vector", "[1.0], target", "[], target", f"{ONE}task.point", "at least one"),
    Bad("text in vector", "[1.0], target", "['1'], target", f"{ONE}task.point", "each a num"),
    Bad("seed keyword", "member", "members", f"{TWO}task.split_seed", "did you mean 'member'?"),
    Bad("number as text", 'arxiv: "2511.01938"', "arxiv: 2511.01938", "source.arxiv", "in quotes"),
    Bad("in defaults", "half: false", "half: 0", "defaults.loss.half", "0 is not allowed"),
    Bad(
        "block is text", "lr: 0.1}\n", "lr: 0.1}\n    dynamics: fast\n", f"{ONE}dynamics", "a block"
    ),
    Bad(
        "list is block",
        "[{name: l2, weight: 0.1, squared: true}]",
        "{name: l2}",
        f"{ONE}penalties",
        "must be a list (each a block of keys)",
    ),
    Bad(
        "snapshot",
        "{steps: 5}",
        "{steps: 5, snapshots: [9]}",
        f"{ONE}smoke.train.snapshots",
        "9 is",
    ),
    Bad(
        "snapshot name",
        "{steps: 5}",
        "{steps: 5, snapshots: [end]}",
        f"{ONE}smoke.train.snapshots.0",
        "a whole number >= 0 or initial or final",
    ),
    Bad(
        "minibatches of an equation of all samples",
        "train: {steps: 20}\n" + TWO_CASES,
        "train: {steps: 9, batch_size: 5}\n    dynamics: {name: isolated_first_layer, rate: 1}\n",
        f"{TWO}train.batch_size",
        "isolated_first_layer takes the whole training set at each step; remove it",
    ),
    Bad(
        "what an equation does not read of its model",
        "output_scale: 1.0}\n    train: {steps: 20}\n" + TWO_CASES,
        "output_scale: 2.0}\n    train: {steps: 9}\n"
        "    dynamics: {name: isolated_first_layer, rate: 1}\n",
        f"{TWO}model.output_scale",
        "2.0 is not read by dynamics isolated_first_layer, whose equation has 1.0; write 1.0",
    ),
    Bad(
        "the same for some members",
        "train: {steps: 20}\n" + TWO_CASES,
        "train: {steps: 9}\n    dynamics: {name: isolated_first_layer, rate: 1}\n"
        "    ensemble: {model.output_scale: [1.0, 0.5]}\n",
        f"{TWO}ensemble.model.output_scale",
        "0.5 is not read by dynamics isolated_first_layer",
    ),
    Bad(
        "shuffle of the full batch",
        "{steps: 5}",
        "{steps: 5, shuffle: true}",
        f"{ONE}smoke.train",
        "give batch_size as well",
    ),
    Bad(
        "coordinates",
        "{steps: 5}",
        "{steps: 5, coordinates: span, snapshots: []}",
        f"{ONE}model.name",
        "linear is not the same with train.coordinates: span; allowed: mlp",
    ),
    Bad(
        "coordinates and default snapshots",
        "{steps: 5}",
        "{steps: 5, coordinates: span}",
        f"{ONE}smoke.train.snapshots",
        "none are kept with train.coordinates: span; write []",
    ),
    Bad("no level", "{steps: 5}", "{steps: 5, stop: {}}", f"{ONE}smoke.train.stop", "at least one"),
    Bad(
        "both sides of a level",
        "{steps: 5}",
        "{steps: 5, stop: {train_loss: {below: 1, above: 2}}}",
        f"{ONE}smoke.train.stop.train_loss",
        "exactly one of `above` and `below`",
    ),
    Bad(
        "a side misspelt",
        "{steps: 5}",
        "{steps: 5, stop: {train_loss: {bellow: 1}}}",
        f"{ONE}smoke.train.stop.train_loss.bellow",
        "unknown key; did you mean 'below'? allowed: above, below",
    ),
    Bad(
        "a level in words",
        "{steps: 5}",
        "{steps: 5, stop: {train_loss: low}}",
        f"{ONE}smoke.train.stop.train_loss",
        '"low" is not allowed: must be a number or a block of keys',
    ),
    Bad(
        "a loss from below",
        "{steps: 5}",
        "{steps: 5, stop: {train_loss: 1e-3}}",
        f"{ONE}smoke.train.stop.train_loss",
        "0.001 would be reached at once, as train_loss falls; write {below: 0.001}",
    ),
    Bad(
        "an unknown column",
        "{steps: 5}",
        "{steps: 5, stop: {test_acuracy: 0.9}}",
        f"{ONE}smoke.train.stop.test_acuracy",
        "no column \"test_acuracy\" is logged; did you mean 'test_accuracy'? allowed: l2_norm, ",
    ),
    Bad(
        "a column of another order",
        "{steps: 5}",
        "{steps: 5, stop: {l1_norm: 0.9}}",
        f"{ONE}smoke.train.stop.l1_norm",
        'no column "l1_norm" is logged; did you mean',
    ),
    Bad(
        "a column of another observable",
        "{steps: 5}",
        "{steps: 5, stop: {slow_time: 2.0}}",
        f"{ONE}smoke.train.stop.slow_time",
        'no column "slow_time" is logged; add {name: slow_time} to observables',
    ),
    Bad(
        "a column that a measure reads",
        "{name: grokking_times, train_accuracy: 1.0, test_accuracy: 0.9}",
        "{name: reached_steps, column: test_los, levels: [0.9]}",
        f"{ONE}measures.0.column",
        "no column \"test_los\" is logged; did you mean 'test_loss'?",
    ),
    Bad("both schedules", "every: 5", "every: 5, points: 9", f"{ONE}train.log", "exactly one"),
    Bad("neither schedule", "every: 5", "first: 5", f"{ONE}train.log", "exactly one"),
    Bad("dtype", "float64]", "float46]", f"{TWO}sweep.train.dtype", "did you mean 'float64'?"),
]
COMPONENTS = [
    *(
        Bad(f"unknown in {block}", f"name: {name}", "name: nothing", f"{place}.name", problem)
        for block, name, place, problem in (
            ("task", "one_sample", f"{ONE}task", 'no component "nothing" in task; allowed: '),
            ("model", "linear", f"{ONE}model", 'no component "nothing" in model; allowed: '),
            ("loss", "mse", "defaults.loss", 'no component "nothing" in loss; allowed: '),
            (
                "optimizer",
                "adam",
                f"{TWO}cases.adaptive.optimizer",
                "allowed: adam, adamw, gd, sgd",
            ),
            ("penalties", "l2", f"{ONE}penalties.0", 'no component "nothing" in penalties'),
            ("observables", "losses", f"{ONE}observables.0", 'no component "nothing" in obs'),
            ("measures", "grokking_times", f"{ONE}measures.0", 'no component "nothing" in mea'),
        )
    ),
    *(
        Bad(
            f"unknown in {block}",
            "    smoke:",
            f"    {block}: {entry}\n    smoke:",
            f"{ONE}{place}.name",
            f'no component "nothing" in {block}',
        )
        for block, entry, place in (
            ("dynamics", "{name: nothing}", "dynamics"),
            ("gradients", "[{name: nothing}]", "gradients.0"),
            ("inputs", "[{name: nothing}]", "inputs.0"),
        )
    ),
    Bad("no name", "name: gd, lr: 0.1", "lr: 0.1", f"{ONE}optimizer", "a block with a name"),
    Bad("name is a number", "name: gd, lr: 0.1", "name: 1", f"{ONE}optimizer.name", "component 1"),
    Bad(
        "missing keyword",
        "name: gd, lr: 0.1",
        "name: gd",
        f"{ONE}optimizer.lr",
        "missing: gd needs it (a number > 0)",
    ),
    Bad(
        "missing beside its component",
        "{train: {steps: 5}}",
        "{optimizer: {name: adam, lr: 1}}",
        f"{ONE}smoke.optimizer.beta1",
        "missing: adam needs it (a number >= 0 and < 1)",
    ),
    Bad(
        "missing under an override",
        "test_seed: 0}",
        "}\n    quick: {task: {target: 1.0}}",
        f"{ONE}task.test_seed",
        "missing: one_sample needs it",
    ),
    Bad(
        "keyword of another component",
        "{train: {steps: 5}}",
        "{optimizer: {beta1: 0.5}}",
        f"{ONE}smoke.optimizer.beta1",
        "not a keyword of gd",
    ),
    Bad(
        "measure of what is not logged",
        ", {name: accuracies}",
        "",
        f"{ONE}measures.0.name",
        "reads what accuracies logs; add {name: accuracies} to observables",
    ),
    Bad(
        "measure of snapshots not kept",
        "{steps: 5}}",
        "{steps: 5, snapshots: []}, measures: [{name: predictor_curve}]}",
        f"{ONE}smoke.measures.0.name",
        "reads snapshots, and train.snapshots is []; write [final]",
    ),
    Bad("missing block", "    optimizer: {name: gd, lr: 0.1}\n", "", f"{ONE}optimizer", "missing"),
    Bad("no task", "steps: 5}}", "steps: 5}, task: null}", f"{ONE}smoke.task", "missing"),
    Bad(
        "unused block",
        "{train: {steps: 5}}",
        "{dynamics: {name: isolated_first_layer, rate: 0.1}}",
        f"{ONE}optimizer",
        "does not use it",
    ),
]
AXES = [
    Bad("no seeds", "seed: 2", "seed: []", f"{ONE}ensemble.seed", "[] is not allowed"),
    Bad("zero seeds", "seed: 2", "seed: 0", f"{ONE}ensemble.seed", "a number of seeds (1 to"),
    Bad("too many seeds", "seed: 2", "seed: 1000000000", f"{ONE}ensemble.seed", "(1 to 10000)"),
    Bad("negative seed", "seed: 2", "seed: [0, -1]", f"{ONE}ensemble.seed", "[0, -1] is not"),
    Bad("text seed", "seed: 2", "seed: [a]", f"{ONE}ensemble.seed", '["a"] is not allowed'),
    Bad("boolean seed", "seed: 2", "seed: true", f"{ONE}ensemble.seed", "true is not allowed"),
    Bad("seed twice", "seed: 2", "seed: [1, 1]", f"{ONE}ensemble.seed", "twice"),
    Bad("not a list", "[[1.0], [2.0]]", "1.0", f"{ONE}ensemble.model.init", "1.0 is not allowed"),
    Bad("empty axis", "[[1.0], [2.0]]", "[]", f"{ONE}ensemble.model.init", "at least one value"),
    Bad("same value", "[[1.0], [2.0]]", "[[1], [1.0]]", f"{ONE}ensemble.model.init", "twice"),
    Bad("lengths", "[[1.0], [2.0]]", "[[1], [1, 2]]", f"{ONE}ensemble.model.init", "length"),
    Bad("text value", "[2.0]]", "normal]", f"{ONE}ensemble.model.init", "members cannot differ"),
    Bad(
        "quoted value",
        "model.init: [[1.0], [2.0]]",
        "optimizer.lr: ['0.1']",
        f"{ONE}ensemble.optimizer.lr",
        "remove the quotes",
    ),
    Bad(
        "shape",
        "    train: {steps: 20}\n",
        "    train: {steps: 20}\n    ensemble: {model.width: [4]}\n",
        f"{TWO}ensemble.model.width",
        "members cannot differ in this keyword of mlp; use a sweep",
    ),
    Bad("task axis", "model.init: [", "task.target: [", f"{ONE}ensemble.task.target", "`member`"),
    Bad("unknown block", "model.init", "modle.init", f"{ONE}ensemble.modle.init", "mean 'model'?"),
    Bad("no block", "model.init", "init", f"{ONE}ensemble.init", "not an axis of members"),
    Bad("absent block", "model.init", "inputs.0.a", f"{ONE}ensemble.inputs.0.a", "no block inputs"),
    Bad(
        "list index",
        "model.init",
        "penalties.1.weight",
        f"{ONE}ensemble.penalties.1.weight",
        "no such entry of penalties (it has 1); write penalties.0.weight",
    ),
    Bad("unknown keyword", "model.init", "model.int", f"{ONE}ensemble.model.int", "mean 'init'?"),
    Bad("empty sweep", "[float32, float64]", "[]", f"{TWO}sweep.train.dtype", "at least one value"),
    Bad("sweep twice", "float64]", "float32]", f"{TWO}sweep.train.dtype", "twice"),
    Bad("sweep no list", "[float32, float64]", "float32", f"{TWO}sweep.train.dtype", "[float32]"),
    Bad(
        "sweep non-block",
        "train.dtype",
        "train.steps.a",
        f"{TWO}sweep.train.steps.a",
        "not a block",
    ),
    Bad("sweep unknown block", "train.dtype", "trian.dtype", f"{TWO}sweep.trian.dtype", "'train'?"),
    Bad(
        "swept keyword", "train.dtype", "model.depth", f"{TWO}sweep.model.depth", "a keyword of mlp"
    ),
    Bad(
        "swept entry",
        "train.dtype",
        "penalties.0.weight",
        f"{TWO}sweep.penalties.0.weight",
        "has 0)",
    ),
    Bad(
        "swept axis",
        "{train.dtype: [float32, float64]}",
        "{optimizer.lr: [0.1, 0.2]}\n    ensemble: {optimizer.lr: [0.3, 0.4]}",
        f"{TWO}sweep.optimizer.lr",
        "members differ in optimizer.lr already",
    ),
    Bad(
        "swept list",
        "{train.dtype: [float32, float64]}",
        "{penalties: [{name: l1, weight: 0.1}]}",
        f"{TWO}sweep.penalties",
        "must be a list of blocks at each point",
    ),
    Bad(
        "swept block",
        "{train.dtype: [float32, float64]}",
        "{ensemble: [3]}",
        f"{TWO}sweep.ensemble",
        "must be a block at each point",
    ),
    Bad(
        "sweep too large",
        "{train.dtype: [float32, float64]}",
        f"{{train.steps: {[*range(1, 200)]}, model.width: {[*range(1, 200)]}}}",
        f"{TWO}sweep",
        "makes 39601 runs; at most 10000",
    ),
]
NAMES = [
    Bad(
        "experiment path", "  two:", "  ../../two:", "experiments.../../two", "not a name: use a-z"
    ),
    Bad("experiment dot", "  two:", "  t.wo:", "experiments.t.wo", "is not a name"),
    Bad("figure path", "  fig1:", "  /tmp/fig1:", "figures./tmp/fig1", "is not a name"),
    Bad("figure dunder", "  fig1:", "  __init__:", "figures.__init__", "is not a name"),
    Bad("case name", "descent:", "De Scent:", f"{TWO}cases.De Scent", "is not a name"),
    Bad("line break", "  two:", '  "t\\nwo":', "experiments.t wo", "is not a name"),
    Bad("no function", "  fig1:", "  fig11:", "figures.fig11", "no function draws it"),
    Bad("unknown experiment", "[one, two]", "[one, tow]", "figures.fig1.experiments.1", "'two'?"),
    Bad("experiment twice", "[one, two]", "[one, one]", "figures.fig1.experiments.1", "twice"),
    Bad(
        "figure without experiments", "[one, two]", "[]", "figures.fig1.experiments", "at least one"
    ),
    Bad(
        "case not a block",
        "{optimizer: {name: gd, lr: 0.5}}",
        "5",
        f"{TWO}cases.descent",
        "5 is not allowed: must be a block of keys",
    ),
    Bad(
        "case null",
        "descent: {optimizer: {name: gd, lr: 0.5}}",
        "descent:",
        f"{TWO}cases.descent",
        "write {}",
    ),
]
CLAIMS = [
    Bad("upside down", "[0, 0.06]", "[0.6, 0.06]", "claims.1", "upside down: 0.6 is above 0.06"),
    Bad("no limit", "[0, 0.06]", "[null, null]", "claims.1", "no limit"),
    Bad("three limits", "[0, 0.06]", "[0, 1, 2]", "claims.1", "two values"),
    Bad(
        "deviation's claim",
        "why: stable}",
        "why: stable, claims: [G7]}",
        "deviations.0.claims",
        "no claim 'G7'",
    ),
    Bad("claim twice", "id: G6", "id: G4", "claims.1 (G4)", "used twice"),
    Bad("claim's id", "id: G6", "id: six", "claims.1", "no id of a claim"),
    Bad("claim's figure", "figure: fig1,", "figure: fig2,", "claims.1 (G6)", "no figure 'fig2'"),
    Bad("claim's function", "value: accuracy_at", "value: accuracy", "claims.1 (G6)", "_at'?"),
    Bad("claim's keyword", "{step: 500}", "{steps: 5}", "claims.1 (G6).keywords", "takes step,"),
    Bad("keyword missing", "keywords: {step: 500}, ", "", "claims.1 (G6).keywords", "not none"),
    Bad("claim's scale", "[paper]", "[smoke]", "claims.1.scales.0", "quick"),
    Bad("claim's source", "source: text, pub", "source: talk, pub", "claims.1.source", "derived"),
    Bad("no statement", "statement: chance, ", "", "claims.1.statement", "missing"),
]
MALFORMED = [*SYNTAX, *KEYS, *VALUES, *COMPONENTS, *AXES, *NAMES, *CLAIMS]
