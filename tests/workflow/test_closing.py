"""Claims and atlas: made after everything else, remade when something they tell changes."""

import csv
import json

from tests.tiers import exhaustive

CAPTION = "A linear model of three weights on the sample"
CLAIM = """\
fig1:
  claims:
    - {id: G4, statement: the weights come to rest, source: derived, published: "1",
       value: distance_at_rest, expected: [null, 1e-3]}
"""


def atlas_manifest(checkout) -> dict:
    file = checkout.folder / "results/smoke/atlas/manifest.json"
    return json.loads(file.read_text(encoding="utf-8"))


def test_the_atlas_vouches_for_every_file_of_its_folder(finished):
    folder = finished.folder / "results/smoke/atlas"
    names = {file.name for file in folder.iterdir()} - {"spec.json", "manifest.json", "log.txt"}
    assert set(atlas_manifest(finished)["outputs"]) == names
    assert "index.html" in names


@exhaustive
def test_a_caption_rewrites_the_atlas_alone(checkout):
    checkout.edit("config/papers/geometry/paper.yaml", CAPTION, "Three weights on the sample")
    assert checkout.jobs() == []
    assert checkout.closing() == ["atlas"]


@exhaustive
def test_a_selection_leaves_claims_and_pages_of_the_others(checkout):
    checkout.edit("config/config.yaml", "papers: all", "papers: [geometry]")
    mtime = ("--rerun-triggers", "mtime")  # as in the profiles
    assert (checkout.jobs(*mtime), checkout.closing(*mtime)) == ([], [])
    checkout.edit("src/grokatlas/papers/geometry/fig1.py", '"$w_1$"', '"w1"')
    checkout.make(*mtime)
    assert (checkout.folder / "results/smoke/atlas/paper-beyond_l2.html").exists()
    checkout.edit("config/config.yaml", "papers: [geometry]", "papers: all")
    assert (checkout.jobs(*mtime), checkout.closing(*mtime)) == ([], [])


@exhaustive
def test_a_new_claim_is_judged_and_told(checkout):
    file = checkout.folder / "config/papers/geometry/claims.yaml"
    file.write_text(CLAIM, encoding="utf-8")
    assert checkout.jobs() == []
    assert checkout.closing() == ["atlas", "claims"]
    checkout.make()
    with (checkout.folder / "results/smoke/claims.csv").open(encoding="utf-8") as stream:
        (row,) = csv.DictReader(stream)
    assert row["verdict"] == "not run at this scale"
    path = "src/grokatlas/papers/geometry/claims.py"
    checkout.edit(
        path,
        "far in np.abs(_parameters(final) - target).max",
        "far in np.abs(_parameters(final) - target).min",
    )
    assert checkout.closing() == ["atlas", "claims"]


@exhaustive
def test_a_figure_that_fails_does_not_stop_the_rest(checkout):
    path = "src/grokatlas/papers/geometry/fig1.py"
    broken = 'raise ValueError("no such curve")\n    rows = tables["two_weights"]'
    checkout.edit(path, 'rows = tables["two_weights"]', broken)
    done = checkout.snakemake("--cores", "1", "--keep-going")
    assert done.returncode != 0
    absent = atlas_manifest(checkout)["partial"]["absent"]
    assert absent == ["results/smoke/figures/geometry/fig1"]
    assert (checkout.folder / "results/smoke/atlas/geometry-fig2.png").exists()
    assert not (checkout.folder / "results/smoke/atlas/geometry-fig1.png").exists()
    checkout.edit(path, broken, 'rows = tables["two_weights"]')
    assert checkout.closing() == ["atlas"]
    checkout.make()
    assert "partial" not in atlas_manifest(checkout)


@exhaustive
def test_snakemakes_report_has_a_category_for_each_paper_and_captions(checkout):
    done = checkout.snakemake("--report", "report.html")
    assert done.returncode == 0, done.stderr
    text = (checkout.folder / "report.html").read_text(encoding="utf-8")
    for told in ('"geometry"', '"beyond_l2"', '"claims"', CAPTION):
        assert told in text, told
