"""The walk up and the walk down a graph."""

from grokatlas.results.ancestry import ancestors, descendants

# data -> run -> measure -> table -> two figures; another run beside
INPUTS = {
    "data": [],
    "run": ["data"],
    "other": ["data"],
    "measure": ["run", "data"],
    "table": ["run", "measure"],
    "first": ["table"],
    "second": ["table", "other"],
}


def inputs(name):
    return INPUTS[name]


def test_ancestors_are_found_once_and_begin_with_the_nodes():
    assert ancestors(["table"], inputs) == ["table", "run", "data", "measure"]
    assert ancestors(["second", "table"], inputs)[0] == "second"
    assert sorted(ancestors(INPUTS, inputs)) == sorted(INPUTS)
    assert ancestors([], inputs) == []


def test_a_circle_ends():
    circle = {"a": ["b"], "b": ["a"]}
    assert ancestors(["a"], circle.__getitem__) == ["a", "b"]


def test_descendants_are_everything_that_depends_on_a_node():
    assert descendants(["measure"], INPUTS, inputs) == {"measure", "table", "first", "second"}
    assert descendants(["other"], INPUTS, inputs) == {"other", "second"}
    assert descendants(["data"], INPUTS, inputs) == set(INPUTS)
    assert descendants([], INPUTS, inputs) == set()
