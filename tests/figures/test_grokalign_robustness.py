"""The figures of `grokalign` on robustness and centroid images on synthetic tables, as data."""

import json

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.grokalign import fig4, fig5, fig6
from grokatlas.plots import style

CASES = ("weight_decay", "grokalign")
STEPS = (0, 1, 10, 100)


def history(**columns) -> pd.DataFrame:
    """Rows of a history; a column is a function of the case's place, seed and step."""
    rows = []
    for place, case in enumerate(CASES):
        for seed in range(5):
            for step in STEPS:
                row = {"record": "history", "case": case, "seed": seed, "step": step}
                row |= {"task.name": "digits", "task.train_points": 200}
                rows.append(row | {key: value(place, seed, step) for key, value in columns.items()})
    return pd.DataFrame(rows)


@pytest.fixture
def noisy() -> pd.DataFrame:
    table = history(
        train_accuracy=lambda place, seed, step: 1.0,
        test_accuracy=lambda place, seed, step: 0.9,
        probe_alignment=lambda place, seed, step: (0.5 if place else 0.2) + seed / 10,
        probe_norm=lambda place, seed, step: 1.0 + place + step,
        **{
            "noisy_accuracy.0": lambda place, seed, step: 0.4 + place / 10,
            "noisy_accuracy.1": lambda place, seed, step: 0.7 + seed / 20,
        },
    )
    spec = {"observables.3.amplitudes.0": 1.0, "observables.3.amplitudes.1": 0.2}
    return table.assign(**spec)


def test_fig4_names_noise_by_the_spec_and_not_by_its_order(noisy):
    figure, drawn = fig4.draw({"xor": noisy}, [])
    right = [axes for axes in figure.axes if axes.get_ylabel() == "accuracy"]
    for place, axes in enumerate(right):
        lines = {line.get_label(): line for line in axes.lines}
        assert list(lines) == ["train", "test", "noise 0.2", "noise 1"]
        np.testing.assert_allclose(lines["noise 1"].get_ydata(), 0.4 + place / 10)
        np.testing.assert_allclose(lines["noise 0.2"].get_ydata(), 0.8)
    seen = drawn[(drawn["series"] == "noisy_accuracy.1") & (drawn["case"] == "grokalign")]
    assert seen["step"].tolist() == [1, 10, 100]
    np.testing.assert_allclose(seen[["median", "low", "high"]], [[0.8, 0.7, 0.9]] * 3)


def test_fig4_has_one_scale_for_both_rows(noisy):
    figure, _ = fig4.draw({"xor": noisy}, [])
    left = [axes for axes in figure.axes if axes.get_ylabel() == "alignment of the centroid"]
    assert len({axes.get_ylim() for axes in left}) == 1
    assert {axes.get_xscale() for axes in left} == {"log"}
    scattered = [axes.collections[-1] for axes in left]
    assert {points.get_clim() for points in scattered} == {(2.0, 102.0)}
    for place, points in enumerate(scattered):
        np.testing.assert_allclose(points.get_offsets()[:, 1], 0.5 if place else 0.2)
        np.testing.assert_allclose(points.get_array(), [2 + place, 11 + place, 101 + place])
    titles = [axes.get_title(loc="left") for axes in left]
    assert titles == ["a  weight decay, digits, 200 points", "c  GrokAlign, digits, 200 points"]


def test_fig4_marks_what_was_read_off_the_published_curves(noisy):
    step = "step of test accuracy 1"
    read = [
        {"panel": "GrokAlign", "curve": "alignment", "x": 50.0, "y": 0.6},
        {"panel": "weight decay", "curve": step, "x": 85.0, "y": 1.0},
    ]
    figure, drawn = fig4.draw({"xor": noisy}, read)
    marks = {}
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_marker() == "o" and len(line.get_xdata()):
                marks[axes.get_title(loc="left")[0]] = line.get_xydata().tolist()
    assert marks == {"c": [[50, 0.6]], "b": [[85, 1]]}
    seen = drawn[drawn["series"] == f"published {step}"]
    assert seen[["case", "step"]].values.tolist() == [["weight_decay", 85]]


def attacked(shift: float) -> pd.DataFrame:
    zero = {"jacobian_pc1": lambda place, seed, step: 0.5 + place / 4}
    zero["test_accuracy"] = lambda place, seed, step: 0.9
    table = history(centroid_alignment_mean=lambda place, seed, step: place / 2, **zero)
    rows = history(
        robust_accuracy=lambda place, seed, step: shift + place / 10 + seed / 100,
    )
    rows["record"] = "robust_accuracy"
    return pd.concat([table, rows], ignore_index=True)


def test_fig5_tells_clean_attacked_and_published_attack_by_their_lines():
    tables = {"delayed_robustness": attacked(0.4)}
    tables["delayed_robustness_as_published"] = attacked(0.2)
    figure, drawn = fig5.draw(tables)
    axes = next(axes for axes in figure.axes if axes.get_ylabel() == "test accuracy")
    found = {(line.get_color(), line.get_linestyle()): line.get_ydata() for line in axes.lines}
    for place, case in enumerate(CASES):
        colour = style.COLOURS[case]
        np.testing.assert_allclose(found[colour, "--"], 0.9)
        np.testing.assert_allclose(found[colour, "-"], 0.42 + place / 10)
        np.testing.assert_allclose(found[colour, ":"], 0.22 + place / 10)
    assert len(axes.lines) == 6
    robust = drawn[drawn["series"] == "robust_accuracy"]
    assert robust.groupby("attack")["median"].min().to_dict() == pytest.approx(
        {"other": 0.22, "pixels": 0.42}
    )
    assert (drawn["step"] > 0).all()


def test_fig5_shows_rank_and_alignment_of_both_cases():
    tables = dict.fromkeys(("delayed_robustness", "delayed_robustness_as_published"), attacked(0.4))
    figure, drawn = fig5.draw(tables)
    medians = drawn.groupby(["series", "case"])["median"].max()
    assert medians["jacobian_pc1", "weight_decay"] == 0.5
    assert medians["jacobian_pc1", "grokalign"] == 0.75
    assert medians["centroid_alignment_mean", "grokalign"] == 0.5
    rank, alignment = figure.axes[:2]
    assert rank.get_ylabel().startswith("PC1")
    assert {line.get_ydata().max() for line in rank.lines if len(line.get_ydata())} == {0.5, 0.75}
    assert {line.get_ydata().max() for line in alignment.lines} == {0, 0.5}
    assert figure.axes[0].get_title(loc="left") == "a  digits, 200 points, 5 seeds"
    alone = {name: table[table["seed"] == 1] for name, table in tables.items()}
    title = fig5.draw(alone)[0].axes[0].get_title(loc="left")
    assert title == "a  digits, 200 points, 1 seed"
    assert {axes.get_xscale() for axes in figure.axes} == {"log"}


@pytest.fixture
def images() -> pd.DataFrame:
    rows = []
    for case in CASES:
        for seed in (0, 1):
            for step in (0, 50):
                for point in (0, 4, 7):
                    row = {"record": "centroid_images", "case": case, "seed": seed, "step": step}
                    row |= {"point": point, "label": 3, "shape": "3x1x2"}
                    row["input"] = json.dumps([0, 1, 2, 3, 4, 5])
                    centroid = [-2, 0, 0, 0, 0, 2] if case == "grokalign" else [0] * 6
                    row |= {"centroid": json.dumps(centroid), "alignment": 0.1 * point + seed}
                    rows.append(row | {"task.name": "cifar10", "task.train_points": 1024})
    return pd.DataFrame(rows)


def test_fig6_shows_colours_of_the_first_seed_at_the_end_in_their_own_range(images):
    figure, drawn = fig6.draw({"delayed_robustness": images})
    assert len(drawn) == 6
    assert set(drawn["step"]) == {50}
    assert set(drawn["seed"]) == {0}
    assert figure.get_suptitle() == "cifar10, 1,024 points, step 50"
    shown = {}
    for axes in figure.axes:
        if axes.images:
            shown.setdefault(axes.get_xlabel(), []).append(axes.images[0].get_array())
    named = {f"image {point}, label 3" for point in (0, 4, 7)}
    assert set(shown) == named | {"cosine 0.00", "cosine 0.40", "cosine 0.70"}
    np.testing.assert_allclose(shown["image 4, label 3"][0], [[[0, 0.4, 0.8], [0.2, 0.6, 1]]])
    plain, aligned = shown["cosine 0.40"]
    np.testing.assert_allclose(plain, 0)
    np.testing.assert_allclose(aligned, [[[0, 0.5, 0.5], [0.5, 0.5, 1]]])


def test_fig6_refuses_two_members_of_one_case_and_seed(images):
    both = [images.assign(**{"optimizer.weight_decay": decay}) for decay in (0.1, 0.2)]
    with pytest.raises(ValueError, match=r"differ in optimizer\.weight_decay"):
        fig6.draw({"delayed_robustness": pd.concat(both)})


def test_fig6_takes_a_flat_input_as_a_square_image(images):
    images = images.assign(shape="4", input="[0,1,2,4]", centroid="[4,0,0,0]")
    figure, _ = fig6.draw({"delayed_robustness": images})
    pictures = [axes.images[0].get_array() for axes in figure.axes if axes.images]
    np.testing.assert_allclose(pictures[0], [[0, 0.25], [0.5, 1]])
    np.testing.assert_allclose(pictures[1], [[1, 0], [0, 0]])
