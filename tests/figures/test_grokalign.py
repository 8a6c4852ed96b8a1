"""Figures of `grokalign` where their tables are not the usual ones; see `test_pictures.py`."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.grokalign import _jacobians, _jacobians_statistics, fig3, fig4, fig6, fig8
from tests.figures import pictures


def test_fig3_shades_nothing_where_the_kernel_never_changes():
    (table,) = pictures.tables("grokalign", "fig3").values()
    table = table.assign(ntk_mean=2.0, probe_inner_product=1.0)
    _, drawn = fig3.draw({"kernel": table}, [])
    assert drawn.loc[drawn["series"] == "band", "step"].isna().all()
    change = _jacobians_statistics.change_while_learning({"kernel": table}, "probe_inner_product")
    assert np.isnan(change).all()


def test_fig4_names_noise_by_the_spec_and_not_by_its_order():
    (table,) = pictures.tables("grokalign", "fig4").values()
    count = sum(name.startswith("noisy_accuracy.") for name in table)
    turned = {
        f"{stem}.{place}": f"{stem}.{count - 1 - place}"
        for stem in ("noisy_accuracy", "observables.3.amplitudes")
        for place in range(count)
    }
    found = []
    for each in (table, table.rename(columns=turned)):
        figure, _ = fig4.draw({"xor": each}, [])
        found.append(
            {
                (place, line.get_label()): line.get_ydata().tolist()
                for place, axes in enumerate(figure.axes)
                for line in axes.lines
                if line.get_label().startswith("noise")
            }
        )
    assert len(found[0]) == 2 * count
    assert found[0] == found[1]


@pytest.fixture
def images():
    (table,) = pictures.tables("grokalign", "fig6").values()
    return table[table["record"] == "centroid_images"]


def test_fig6_refuses_two_members_of_one_case_and_seed(images):
    both = [images.assign(**{"optimizer.weight_decay": decay}) for decay in (0.1, 0.2)]
    with pytest.raises(ValueError, match=r"differ in optimizer\.weight_decay"):
        fig6.draw({"delayed_robustness": pd.concat(both)})


def test_fig6_takes_a_flat_input_as_a_square_image(images):
    images = images.assign(shape="4", input="[0,1,2,4]", centroid="[4,0,0,0]")
    figure, _ = fig6.draw({"delayed_robustness": images})
    shown = [axes.images[0].get_array() for axes in figure.axes if axes.images]
    np.testing.assert_allclose(shown[0], [[0, 0.25], [0.5, 1]])
    np.testing.assert_allclose(shown[1], [[1, 0], [0, 0]])


def test_alignments_of_two_seeds_are_two_lines_with_a_band_each():
    (table,) = pictures.tables("grokalign", "fig8").values()
    table = pd.concat(table[table["seed"] == 0].assign(seed=seed) for seed in (0, 1))
    table["centroid_alignment_mean"] = table["seed"] / 10
    made, drawn = fig8.draw({"transformer": table})
    lines = [line for line in made.axes[1].lines if len(line.get_xdata()) > 2]
    assert [line.get_ydata()[0] for line in lines] == [0, 0.1] * 2
    assert len(made.axes[1].collections) == 4
    means = drawn.loc[drawn["series"] == "alignment", "centroid_alignment_mean"]
    np.testing.assert_allclose(means, 0.05)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"task.classes.0": [0.0], "task.classes.1": [1.0]}, "1,024 points"),
        ({"task.classes": ["all"]}, "512 points of each class"),
        ({"task.per_class": [False]}, "512 points"),
    ],
)
def test_numbers_of_each_class_are_added_up(more, told):
    rows = {"task.name": ["mnist"], "task.train_points": [512.0], "task.per_class": [True]}
    assert _jacobians.data_named(pd.DataFrame(rows | more)) == f"mnist, {told}"
