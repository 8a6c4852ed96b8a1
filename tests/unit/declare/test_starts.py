"""What `start` of a layer makes of a cell: the runs that it starts from, and what it asks."""

import re

import pytest

from grokatlas.declare import cells, checks, papers, starts, strict_yaml
from grokatlas.errors import UserError
from grokatlas.plan.graph import make_plan
from grokatlas.results import hashing
from tests.checkout import ROOT
from tests.unit.declare.test_cells import ADAM, BASE, paper

DEFAULTS = BASE | {"optimizer": ADAM, "observables": [{"name": "accuracies"}]}
FIRST = {"ensemble": {"seed": 3}, "train": {"snapshots": ["initial", 40, "final"]}}
START = {"experiment": "first", "step": 40}


def of(name="second", **experiments):
    declared = paper(DEFAULTS, **{"first": FIRST, **experiments})
    return cells.resolve("geometry", declared, name, "paper")


def child(first=FIRST, start=START, **layer):
    (cell,) = of(first=first, second={"ensemble": {"seed": 3}, "start": start, **layer})
    return cell


def parent(start=START):
    (cell,) = of("first", second={"start": start})
    return cell


def run(cell):
    return hashing.of(cell.spec)[:12]


def refused(words, **keywords):
    with pytest.raises(UserError) as error:
        child(**keywords)
    assert words in str(error.value)
    assert str(error.value).startswith("papers/geometry/experiments.yaml: second.start")


def test_a_spec_names_the_runs_that_it_starts_from():
    assert child().spec["start"] == {"runs": [run(parent())], "step": 40, "optimizer": "fresh"}
    assert [part.spec for part in child().parts[0].parents] == [parent().spec]
    assert child(start={"experiment": "first"}).spec["start"]["step"] == 100
    assert child(start={**START, "step": 0}).spec["start"]["step"] == 0
    other = FIRST | {"optimizer": ADAM | {"lr": 0.3}}
    assert child(first=other).spec["start"]["runs"] != child().spec["start"]["runs"]


def test_names_of_experiments_are_not_in_a_spec():
    renamed = paper(DEFAULTS, warm=FIRST, second={"ensemble": {"seed": 3}, "start": START})
    renamed.experiments["second"].start["experiment"] = "warm"
    (cell,) = cells.resolve("geometry", renamed, "second", "paper")
    assert cell.spec == child().spec


def test_a_parent_keeps_the_state_of_its_optimizer_where_a_child_asks_for_it():
    (alone,) = of("first")
    assert parent().spec == alone.spec
    asked = parent(start={**START, "optimizer": "kept"})
    assert asked.spec["train"] == alone.spec["train"] | {"optimizer_states": [40]}
    assert asked.parts[0].spec == asked.spec
    kept = child(start={**START, "optimizer": "kept"})
    assert kept.spec["start"] == {"runs": [run(asked)], "step": 40, "optimizer": "kept"}
    swept = {"start": {**START, "optimizer": "kept"}, "sweep": {"start.step": [0, 40, "end"]}}
    (cell,) = of("first", second=swept)
    assert cell.spec["train"]["optimizer_states"] == [0, 40, 100]
    assert [each.spec["start"]["step"] for each in of(second=swept)] == [0, 40, 100]


def test_a_case_may_start_from_another_of_its_experiment():
    cases = {"warm": FIRST, "frozen": {"start": {"experiment": "second", "case": "warm"}}}
    warm, frozen = of(second={"cases": cases})
    assert frozen.spec["start"]["runs"] == [run(warm)]


def test_members_start_from_runs_that_have_them():
    split = FIRST | {"members_per_run": {"seed": 1}}
    (cell,) = of(first=split, second={"ensemble": {"seed": [2, 0]}, "start": START})
    (first,) = of("first", first=split)
    ids = [hashing.of(part.spec)[:12] for part in first.parts]
    assert cell.spec["start"]["runs"] == [ids[0], ids[2]]
    one_by_one = {"ensemble": {"seed": [2, 0]}, "start": START, "members_per_run": {"seed": 1}}
    (cell,) = of(first=split, second=one_by_one)
    assert [part.spec["start"]["runs"] for part in cell.parts] == [[ids[2]], [ids[0]]]
    assert cell.spec["start"]["runs"] == [ids[2], ids[0]]


def test_axes_of_a_sweep_are_matched():
    widths = {"sweep": {"model.width": [8, 16]}}
    first, second = FIRST | widths, {"ensemble": {"seed": 3}, "start": START} | widths
    there = of("first", first=first)
    assert [c.spec["start"]["runs"] for c in of(first=first, second=second)] == [
        [run(each)] for each in there
    ]
    refused("first is a run for each model.width, and one is to be chosen", first=first)
    wider = {"sweep": {"model.width": [8, 32]}}
    refused("first has no run with model.width 32; it has 8, 16", first=first, **wider)


def test_what_does_not_fit_is_one_line():
    refused("no such experiment here; did you mean 'first'?", start={**START, "experiment": "frst"})
    refused("first has no such case", start={**START, "case": "a"})
    refused("has cases; give one: case: a or b", first={"cases": {"a": {}, "b": {}}})
    refused("no snapshot at step 41 (it has 0, 40, 100); add 41", start={**START, "step": 41})
    refused("must be kept or fresh", start={**START, "optimizer": "old"})
    seeds = {"ensemble": {"seed": [1, 7]}}
    refused("first has no member with seed 7; give both the same values", **seeds)
    rates = {"ensemble": {"seed": 3, "optimizer.lr": [0.1, 0.2]}}
    refused("of first differ in optimizer.lr, and one is to be chosen", first=FIRST | rates)
    double = {"train": FIRST["train"] | {"dtype": "float64"}}
    refused("first is in float64, and this run in float32", first=FIRST | double)
    kept = {**START, "optimizer": "kept"}
    gd = {"optimizer": {"name": "gd", "lr": 0.1}}
    refused("first has optimizer adam, and this run gd", start=kept, **gd)
    refused("cannot start from itself (second -> second)", start={"experiment": "second"})


def test_a_list_of_steps_is_one_line_also_where_the_parent_is_planned_first():
    second = {"ensemble": {"seed": 3}, "start": START | {"step": [10, 40], "optimizer": "kept"}}
    with pytest.raises(UserError, match=r"second\.start\.step"):
        make_plan({"geometry": paper(DEFAULTS, first=FIRST, second=second)}, "paper")


def test_joined_axes_that_do_not_fit_are_named_by_their_paths():
    joined = {"optimizer.lr": [0.1, 0.2], "optimizer.eps": [1e-8, 1e-7]}
    parent = FIRST | {"ensemble": {"seed": 3, "zip": [joined]}}
    other = {"ensemble": {"seed": 3, "zip": [joined | {"optimizer.lr": [0.1, 0.3]}]}}
    words = "first has no member with optimizer.eps 1e-07, optimizer.lr 0.3, seed 0"
    refused(words, first=parent, **other)
    refused("differ in optimizer.eps, optimizer.lr, and one is", first=parent)


def test_a_longer_circle_is_named():
    with pytest.raises(UserError, match=r"\(first -> second -> first\); name another"):
        of("first", first={"start": {"experiment": "second"}}, second={"start": START})


def test_axes_that_the_parent_lacks_share_its_members():
    rates = {"seed": 3, "optimizer.lr": [0.1, 0.2]}
    assert child(ensemble=rates).spec["start"]["runs"] == [run(parent())]


def test_the_plan_makes_a_parent_first_and_its_digest_is_in_the_child():
    def plan(first=FIRST):
        second = {"ensemble": {"seed": 3}, "start": START}
        measures = [{"name": "fourier_features", "parameter": "layers.0.weight"}]
        declared = paper(DEFAULTS | {"measures": measures}, second=second, first=first)
        return make_plan({"geometry": declared}, "paper")

    found = plan()
    before, after = found.runs.values()
    assert [each.kind for each in after.inputs] == ["dataset", "run"]
    assert after.inputs[1] is before
    assert [file.name for file in after.files_read] == ["data.safetensors", "snapshots.safetensors"]
    for measure in found.measures.values():
        assert [each.kind for each in measure.inputs] == ["run", "dataset"]
    other = [*plan(FIRST | {"optimizer": ADAM | {"lr": 0.3}}).runs.values()][1]
    assert other.target != after.target
    assert other.digest != after.digest


def test_a_parent_that_no_figure_draws_is_run_and_needs_no_warning():
    declared = paper(DEFAULTS, first=FIRST, second={"start": START}, third={})
    figure = declared.figures["fig1"].model_copy(update={"experiments": ["second"]})
    declared = declared.model_copy(update={"figures": {"fig1": figure}})
    (line,) = checks.unused_experiments({"geometry": declared})
    assert "third: no figure uses it" in line


def test_a_paper_of_which_others_draw_a_table_keeps_what_that_starts_from():
    second = {"start": {**START, "optimizer": "kept"}}
    its = paper(DEFAULTS, first=FIRST, second=second, third={})
    for drawn in ("first", "second"):
        own = paper(DEFAULTS, one={})
        figure = own.figures["fig1"].model_copy(update={"experiments": [f"its/{drawn}"]})
        own = own.model_copy(update={"figures": {"fig1": figure}})
        found = papers.select({"its": its, "own": own}, ["own"])
        assert [*found["its"].experiments] == ["first", "second"]


def test_experiments_are_related_through_others():
    declared = paper(DEFAULTS, first=FIRST, second={"start": START}, third={})
    swept = {"start": {"experiment": "second"}, "sweep": {"start.experiment": ["second"]}}
    declared = paper(DEFAULTS, **declared.experiments, fourth=swept)
    assert starts.related(declared.experiments, ["fourth"]) == {"first", "second", "fourth"}
    assert starts.related(declared.experiments, ["third"]) == {"third"}


def test_what_moves_is_said_to_a_dynamics_that_takes_it():
    (cell,) = of("one", one={"train": {"only": ["layers.1.*"]}})
    assert cell.spec["train"]["only"] == ["layers.1.*"]
    fixed = {"dynamics": {"name": "fixed_norm_training", "relative_norm": 1.0}}
    with pytest.raises(UserError) as error:
        of("one", one={"train": {"only": ["layers.1.*"]}, **fixed})
    assert str(error.value) == (
        "papers/geometry/experiments.yaml: one.train.only: dynamics fixed_norm_training moves all "
        "parameters; remove it (allowed with: gradient_training)"
    )


def test_the_example_of_the_documentation_is_accepted(tmp_path):
    page = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    section = page[page.index("## Runs that start from others") :]
    (tmp_path / "example.yaml").write_text(re.search(r"```yaml\n(.*?)```", section, re.S)[1])
    declared = paper(DEFAULTS, **strict_yaml.load(tmp_path / "example.yaml"))
    (phase,) = cells.resolve("geometry", declared, "phases", "paper")
    assert phase.spec["start"]["step"] == 5000
    transfer = cells.resolve("geometry", declared, "transfer", "paper")
    assert [cell.spec["start"]["step"] for cell in transfer] == [0, 1000, 5000]
    assert all(cell.spec["start"]["runs"] == phase.spec["start"]["runs"] for cell in transfer)
