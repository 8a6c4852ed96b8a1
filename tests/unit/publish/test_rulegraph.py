"""The picture of the rules: read from what Snakemake tells, the same bytes each time."""

from xml.etree import ElementTree

import pytest

from grokatlas.errors import UserError
from grokatlas.publish import rulegraph

DOT = """\
digraph snakemake_dag {
    graph[bgcolor=white, margin=0];
\t0[label = "all", color = "0.00 0.6 0.85", style="rounded"];
\t1[label = "draw", color = "0.30 0.6 0.85", style="rounded"];
\t2[label = "train", color = "0.52 0.6 0.85", style="rounded"];
\t10[label = "data", color = "0.52 0.6 0.85", style="rounded,dashed"];
\t1 -> 0
\t2 -> 1
\t10 -> 2
\t10 -> 1
}
"""


def test_rules_and_arrows_but_for_the_one_without_a_job():
    names, edges = rulegraph.parsed(DOT)
    assert names == ["data", "draw", "train"]
    assert edges == [("data", "draw"), ("data", "train"), ("train", "draw")]


def test_a_rule_is_to_the_right_of_all_that_it_depends_on():
    assert rulegraph.columns(*rulegraph.parsed(DOT)) == [["data"], ["train"], ["draw"]]


def test_every_rule_and_every_arrow_is_drawn():
    text = rulegraph.svg(*rulegraph.parsed(DOT))
    space = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(text)
    assert [each.text for each in root.iter(f"{space}text")] == ["data", "draw", "train"]
    assert len(root.findall(f"{space}path")) == 3
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    for box in root.iter(f"{space}rect"):
        assert left < float(box.attrib["x"]) < left + width - rulegraph.WIDTH
        assert top < float(box.attrib["y"]) < top + height - rulegraph.HEIGHT


def test_a_line_that_passes_a_rule_goes_above_it():
    names, edges = rulegraph.parsed(DOT)
    root = ElementTree.fromstring(rulegraph.svg(names, edges))
    space = "{http://www.w3.org/2000/svg}"
    (row,) = {float(box.attrib["y"]) for box in root.iter(f"{space}rect")}
    bends = [each.attrib["d"].split()[3] for each in root.findall(f"{space}path")]
    assert sum(float(height) <= row - rulegraph.BULGE for height in bends) == 1
    assert float(root.attrib["viewBox"].split()[1]) < row - rulegraph.BULGE - 1


def test_no_graph_is_one_line():
    with pytest.raises(UserError, match="tells no rule"):
        rulegraph.parsed("Building DAG of jobs...")
