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


def test_ancestors_are_found_once_and_begin_with_the_nodes_also_in_a_circle():
    assert ancestors(["table"], INPUTS.__getitem__) == ["table", "run", "data", "measure"]
    assert ancestors(["second", "table"], INPUTS.__getitem__)[0] == "second"
    assert sorted(ancestors(INPUTS, INPUTS.__getitem__)) == sorted(INPUTS)
    assert ancestors([], INPUTS.__getitem__) == []
    circle = {"a": ["b"], "b": ["a"]}
    assert ancestors(["a"], circle.__getitem__) == ["a", "b"]


def test_descendants_are_everything_that_depends_on_a_node():
    assert descendants(["measure"], INPUTS, INPUTS.__getitem__) == {
        "measure",
        "table",
        "first",
        "second",
    }
    assert descendants(["other"], INPUTS, INPUTS.__getitem__) == {"other", "second"}
    assert descendants(["data"], INPUTS, INPUTS.__getitem__) == set(INPUTS)
    assert descendants([], INPUTS, INPUTS.__getitem__) == set()
