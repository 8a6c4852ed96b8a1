"""The judgement of the benchmark on made tables, its grids, and mistakes in a file of methods."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from grokatlas.errors import UserError
from grokatlas.study.benchmark import command, entry, judging, page, protocol
from tests.checkout import ROOT

RULES = protocol.load()
BASE = RULES.baseline
SEEDS = [RULES.choose, *RULES.judge]
NUMBERS = (1.0, 2.0, 4.0, 8.0)
GRID = protocol.Grid(path="optimizer.lr", scale="value", own=1.0, added=NUMBERS)
METHOD = """\
methods:
  mine:
    title: mine
    source: a test
    gradients: [{name: grokfast_ema, alpha: 0.9}]
    vary: {gradients.0.lamb: [0.3, 1, 3, 10]}
"""


def table(times: dict[float, dict[int, float]], steps: int = 1000) -> pd.DataFrame:
    """A table as the workflow makes it: for each number of a grid, t2 by seed."""
    rows = [
        {
            "case": "grid",
            "record": record,
            "optimizer.lr": number,
            "seed": seed,
            "t2": t2 if record == "grokking_times" else np.nan,
            "operations": 10.0 if record == "operations" else np.nan,
            "train.steps": steps,
            "run": "a" * 12,
        }
        for number, by_seed in times.items()
        for seed, t2 in by_seed.items()
        for record in ("grokking_times", "operations")
    ]
    return pd.DataFrame(rows)


def made(times: dict[float, dict[int, float]]) -> pd.DataFrame:
    return judging.trials(table(times), "sparse", "mine", GRID, "grokking_times")


def flat(t2: float) -> dict[int, float]:
    return dict.fromkeys(SEEDS, t2)


def rows_of(**times: np.ndarray) -> pd.DataFrame:
    """Rows of methods with these times on the judged seeds."""
    parts = [
        pd.DataFrame(
            {
                "task": "sparse",
                "method": method,
                "value": 1.0,
                "seed": RULES.judge,
                "updates": values,
                "operations": values * 10,
                "reached": True,
                "edge": False,
            }
        )
        for method, values in times.items()
    ]
    return pd.concat(parts, ignore_index=True)


def verdicts(rows: pd.DataFrame) -> dict[str, tuple]:
    """The cells in updates, by method."""
    cells = judging.compared(rows, RULES)
    return {c.method: c for c in cells[cells["unit"] == "updates"].itertuples()}


def test_a_value_is_chosen_on_the_seed_of_choice_and_judged_on_the_others():
    times = {1.0: flat(500), 2.0: flat(100), 4.0: flat(400), 8.0: flat(450)}
    times[4.0] |= {RULES.choose: 50.0}  # luck on the seed of choice, which does not count
    rows = judging.rows(made(times), {("sparse", "mine"): GRID}, RULES)
    assert rows["number"].unique() == [4.0]
    assert sorted(rows["seed"]) == RULES.judge
    assert (rows["updates"] == 400).all()
    assert not rows["edge"].any()
    assert (rows["operations"] == 4000).all()


def test_small_values_of_a_knob_are_told_apart():
    numbers = (1e-9, 1e-8)
    grid = protocol.Grid(path="optimizer.lr", scale="value", own=1e-9, added=numbers)
    times = {1e-9: dict.fromkeys(SEEDS, 900.0), 1e-8: dict.fromkeys(SEEDS, 100.0)}
    rows = judging.trials(table(times), "sparse", "mine", grid, "grokking_times")
    assert dict(rows.groupby("value")["updates"].unique().map(list)) == {1e-9: [900], 1e-8: [100]}


def test_a_folder_of_something_else_is_refused_and_left_as_it_is(tmp_path):
    methods, study = tmp_path / "mine.yaml", tmp_path / "study"
    methods.write_text(METHOD)
    (study / "config").mkdir(parents=True)
    (study / "config/config.yaml").write_text("scale: paper\n")
    with pytest.raises(UserError, match="study: is there and no benchmark; give a new folder"):
        command.add(methods, "sparse", "smoke", study, dry_run=True)
    assert (study / "config/config.yaml").read_text() == "scale: paper\n"
    assert [file.name for file in study.iterdir()] == ["config"]
    for _ in range(2):  # a benchmark goes on in its folder
        assert command.add(methods, "sparse", "smoke", tmp_path / "new", dry_run=True) == 0


def test_never_counts_as_the_budget_and_is_shown():
    times = dict.fromkeys(NUMBERS, flat(np.nan)) | {2.0: flat(100) | {3: np.nan}}
    rows = judging.rows(made(times), {("sparse", "mine"): GRID}, RULES)
    assert rows.loc[rows["seed"] == 3, ["updates", "reached"]].to_numpy().tolist() == [[1000, 0]]
    cells = judging.compared(pd.concat([rows, rows.assign(method=BASE)]), RULES)
    assert {page.reached(cell) for cell in cells.itertuples()} == {"7 of 8"}


@pytest.mark.parametrize(
    ("best", "numbers"),
    [
        (8.0, [1, 2, 4, 8, 16]),
        (1.0, [0.5, 1, 2, 4, 8]),
        (2.0, [1, 2, 4, 8]),
    ],
)
def test_a_grid_with_its_best_at_an_end_gets_the_next_value_by_its_ratio(best, numbers):
    grids = {("sparse", "mine"): GRID}
    trials = made(dict.fromkeys(NUMBERS, flat(500)) | {best: flat(100)})
    assert judging.extended(grids, trials, RULES)["sparse", "mine"].numbers == numbers


def test_a_grid_is_extended_at_most_twice():
    grids = {("sparse", "mine"): GRID}
    for _ in range(4):
        numbers = grids["sparse", "mine"].numbers
        trials = made(dict.fromkeys(NUMBERS, flat(500))).assign(number=numbers[-1])
        grids = judging.extended(grids, trials, RULES)
    assert grids["sparse", "mine"].numbers == [1, 2, 4, 8, 16, 32]


def test_a_copy_of_the_baseline_is_equal_in_95_of_100_resamplings():
    draws = np.random.default_rng(0)
    equal = 0
    for _ in range(100):
        seeds = draws.normal(6, 1, len(RULES.judge))
        base, copy = (np.exp(seeds + draws.normal(0, 0.3, len(seeds))) for _ in range(2))
        equal += verdicts(rows_of(**{BASE: base, "copy": copy}))["copy"].verdict == "equal"
    assert equal >= 95


def test_a_copy_with_the_baselines_own_times_has_its_rank():
    times = np.linspace(100, 200, len(RULES.judge))
    cells = verdicts(rows_of(**{BASE: times, "copy": times, "slow": times * 3}))
    copy = cells["copy"]
    assert [copy.quotient, copy.low, copy.high, copy.p] == [1, 1, 1, 1]
    assert page.rank(copy) == page.rank(cells[BASE]) == "1 (1 to 1) of 3"
    assert cells["slow"].verdict == "later"


def test_a_method_that_halves_every_time_wins_with_its_interval():
    draws = np.random.default_rng(1)
    base = np.exp(draws.normal(6, 0.5, len(RULES.judge)))
    ours = base / 2 * np.exp(draws.normal(0, 0.1, len(base)))
    cells = verdicts(rows_of(**{BASE: base, "mine": ours, "other": base * 1.5}))
    mine = cells["mine"]
    assert mine.verdict == "sooner"
    assert mine.low < 0.5 < mine.high < 0.65
    assert page.rank(mine) == "1 (1 to 1) of 3"


def test_a_cell_leads_to_the_curves_of_its_trials(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "recorded", lambda scale: pd.DataFrame(columns=judging.COLUMNS))
    times = np.linspace(100, 200, len(RULES.judge))
    folder = tmp_path / "mine"
    drawn = folder / "results/quick/figures/benchmark"
    drawn.mkdir(parents=True)
    for method in (BASE, "mine"):
        Image.new("RGB", (2000, 500), "red").save(drawn / f"sparse__{method}.png")
    rows = rows_of(**{BASE: times, "mine": times / 2}).assign(run="a" * 12)
    rows.to_csv(folder / "rows.csv", index=False)
    text, html = tmp_path / "b.md", tmp_path / "b.html"
    other = f"{page.begin('paper')}\nas it is\n{page.END}"
    text.write_text(f"before\n{other}\n{page.begin('quick')}\n{page.END}\nafter\n")
    for out in (text, html):
        command.write_page(out, "quick", [folder / "rows.csv"])
    assert '<a href="b/quick/sparse__mine.png">0.50 (0.50 to 0.50)</a>' in text.read_text()
    assert text.read_text().startswith(f"before\n{other}\n")
    assert text.read_text().endswith(f"{page.END}\nafter\n")
    with Image.open(tmp_path / "b/quick/sparse__mine.png") as brought:
        assert brought.size == (1000, 250)
    pages = f"{folder}/results/quick/atlas/paper-benchmark.html"
    assert f'href="{pages}#sparse__mine"' in html.read_text()
    bare = tmp_path / "bare.md"
    bare.write_text(other)
    with pytest.raises(UserError, match=r"bare\.md: has no marks"):
        command.write_page(bare, "quick", [folder / "rows.csv"])
    assert not (tmp_path / "bare").exists()
    (drawn / "sparse__mine.png").unlink()
    with pytest.raises(UserError, match=r"sparse__mine\.png: no such picture"):
        command.write_page(text, "quick", [folder / "rows.csv"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site").mkdir()
    folder.rename("my method")
    command.write_page(Path("site/b.html"), "quick", [Path("my method/rows.csv")])
    address = "../my%20method/results/quick/atlas/paper-benchmark.html#sparse__mine"
    assert f'href="{address}"' in Path("site/b.html").read_text()


GOOD = rows_of(mine=np.linspace(1, 2, len(RULES.judge))).assign(run="a" * 12).to_csv(index=False)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "holds no rows: No columns to parse from file"),
        ("a,b\n1,2\n", "has no column task"),
        (GOOD.partition("\n")[0], "has no row"),
        (GOOD.replace(",1.0,0,", ",1.0,x,"), "holds no rows: invalid literal for int"),
        (GOOD.replace(",1.0,0,", ",1.0,9,"), "mine on sparse: has other seeds than"),
        (GOOD.replace("sparse", "sparsest"), "mine on sparsest: a task without own"),
        (
            rows_of(mine=np.zeros(len(RULES.judge))).assign(run="a" * 12).to_csv(index=False),
            "mine on sparse: updates and operations must be finite and above 0",
        ),
    ],
)
def test_a_file_of_other_rows_is_refused_in_one_line(tmp_path, content, problem):
    file, out = tmp_path / "rows.csv", tmp_path / "b.html"
    file.write_text(GOOD)
    command.write_page(out, "quick", [file])
    out.unlink()
    file.write_text(content)
    with pytest.raises(UserError, match=rf"rows\.csv: {problem}.*; give the rows\.csv of an entry"):
        command.write_page(out, "quick", [file])
    assert not out.exists()


def test_rows_of_another_scale_are_refused(tmp_path):
    (tmp_path / "config/papers/benchmark").mkdir(parents=True)
    (tmp_path / "config/config.yaml").write_text("scale: smoke\n")
    (tmp_path / "rows.csv").write_text(GOOD)
    with pytest.raises(UserError, match=r"rows\.csv: has the rows of scale smoke; give the rows"):
        command.write_page(tmp_path / "b.html", "quick", [tmp_path / "rows.csv"])


def test_one_seed_alone_decides_nothing():
    base = np.full(len(RULES.judge), 100.0)
    ours = base.copy()
    ours[0] = 1
    assert verdicts(rows_of(**{BASE: base, "mine": ours}))["mine"].verdict == "equal"


def test_a_methods_blocks_stand_before_the_tasks_own(tmp_path):
    file = tmp_path / "mine.yaml"
    text = METHOD.replace("gradients:", "penalties:").replace("grokfast_ema, alpha: 0.9", "l2")
    text = text.replace("gradients.0.lamb: [0.3, 1, 3, 10]", "regulariser: {times: [1, 2, 4, 8]}")
    file.write_text(text)
    changes = RULES.read(file)["mine"].on("sparse")
    blocks, grid = protocol.declared(RULES.tasks["sparse"], changes, "quick")
    assert blocks["penalties"] == [{"name": "l2"}, {"name": "l1"}]  # an axis has the weight
    assert grid.path == "penalties.1.weight"
    assert [grid.value(number) for number in grid.numbers] == [0.001, 0.002, 0.004, 0.008]


def test_the_knob_of_adams_memory_is_its_length():
    grid = GRID.model_copy(update={"scale": "memory"})
    assert grid.value(100) == 0.99


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("gradients:", "gradeints:", "mine.gradeints: unknown key; did you mean 'gradients'?"),
        ("[0.3, 1, 3, 10]", "[0.3, 1, 3]", "vary.gradients.0.lamb: 3 values; give 4, as all have"),
        ("[0.3, 1, 3, 10]", "[0.3, 1, 10, 3]", "give values that ascend, each once"),
        ("[0.3, 1, 3, 10]", "{tims: [1, 2, 3, 4]}", "is not allowed"),
        (
            "[0.3, 1, 3, 10]",
            "{times: [1, 2, 3, 4], memory: [2, 3, 4, 5]}",
            "`vary` gradients.0.lamb: give either times or memory",
        ),
        ("[0.3, 1, 3, 10]", "{}", "`vary` gradients.0.lamb: give either times or memory"),
        (
            "    vary:",
            "    tasks: {spars: null}\n    vary:",
            "tasks.spars: no task of the benchmark; did you mean 'sparse'?",
        ),
        ("gradients.0.lamb:", "gradeints.0.lamb:", "no 'gradeints' is there; did you mean 'grad"),
        ("gradients.0.lamb:", "gradients.1.lamb:", "no '1' is there; allowed: 0"),
        (
            METHOD[METHOD.index("gradients:") :].rstrip(),
            "optimizer: {name: 3}\n    vary: {optimizer.lr: {times: [1, 2, 4, 8]}}",
            "the task has no such number to multiply",
        ),
        (
            "gradients.0.lamb: [0.3, 1, 3, 10]",
            "optimizer.bata2: {times: [1, 2, 4, 8]}",
            "the task has no such number to multiply; did you mean 'optimizer.beta2'?",
        ),
    ],
)
def test_a_mistake_in_a_method_is_one_line(tmp_path, old, new, problem):
    file = tmp_path / "mine.yaml"
    assert METHOD.count(old) == 1
    file.write_text(METHOD.replace(old, new))
    with pytest.raises(UserError, match=str(file)) as refused:
        entry.Entry(RULES, RULES.read(file), [*RULES.tasks], "quick", str(file))
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_unknown_task_is_told_the_nearest():
    with pytest.raises(UserError, match="no task 'xorr'; did you mean 'xor'"):
        RULES.chosen("sparse,xorr")


def test_the_methods_of_the_benchmark_are_declared_on_every_task_that_they_name():
    methods = RULES.read(ROOT / protocol.FOLDER / "methods.yaml")
    made = entry.Entry(RULES, methods, [*RULES.tasks], "paper", "methods.yaml")
    assert {task for task, _ in made.grids} == {*RULES.tasks}
    assert {method for _, method in made.grids} == {*methods}


def test_an_optimizer_of_another_name_takes_the_keywords_that_both_have(tmp_path):
    file = tmp_path / "mine.yaml"
    block = "optimizer: {name: muon, parameters: ['*'], momentum: 0.9, beta1: 0.9, beta2: 0.9}"
    text = METHOD.replace("gradients: [{name: grokfast_ema, alpha: 0.9}]", block)
    file.write_text(text.replace("gradients.0.lamb: [0.3, 1, 3, 10]", "regulariser: [1, 2, 3, 4]"))
    changes = RULES.read(file)["mine"].on("transformer")
    blocks, grid = protocol.declared(RULES.tasks["transformer"], changes, "paper")
    own = RULES.tasks["transformer"].at("paper")["optimizer"]
    taken = {key: own[key] for key in ("lr", "eps")}
    given = {"name": "muon", "parameters": ["*"], "momentum": 0.9, "beta1": 0.9, "beta2": 0.9}
    assert blocks["optimizer"] == given | taken
    assert grid.path == "optimizer.weight_decay"
    assert "decay" in own  # which Muon has not
