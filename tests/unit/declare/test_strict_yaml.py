"""YAML as plain data: YAML 1.2 numbers, and nothing that is not plain."""

import pytest

from grokatlas.declare import strict_yaml
from grokatlas.errors import UserError


def load(folder, text):
    file = folder / "some.yaml"
    file.write_text(text, encoding="utf-8")
    return strict_yaml.load(file, "some.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-7", -7),
        ("+7", 7),
        ("010", 10),
        ("9223372036854775807", 2**63 - 1),
        ("1e-3", 1e-3),
        ("1E3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("-1.5e+2", -150.0),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("yes", "yes"),
        ("off", "off"),
        ("tRUE", "tRUE"),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        ("'1e-3'", "1e-3"),
        ('"true"', "true"),
        ("nan", "nan"),
        ("'.nan'", ".nan"),
        ("[1, 1.0, a]", [1, 1.0, "a"]),
        ("{a: {b: [1]}}", {"a": {"b": [1]}}),
        ("größe", "größe"),
    ],
)
def test_a_value(tmp_path, text, value):
    found = load(tmp_path, f"key: {text}\n")["key"]
    assert found == value
    assert type(found) is type(value)


def test_the_types_of_a_folded_and_a_literal_block(tmp_path):
    assert load(tmp_path, "a: >-\n  1\n  2\nb: |\n  true\n") == {"a": "1 2", "b": "true\n"}


def test_a_byte_order_mark_is_no_part_of_a_key(tmp_path):
    assert load(tmp_path, "\ufeffa: 1\n") == {"a": 1}


def test_an_empty_document_is_null(tmp_path):
    assert load(tmp_path, "# nothing\n") is None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3: a: is written twice"),
        ("a: {b: 1, 'b': 2}\n", "line 1: a.b: is written twice"),
        ("a:\n  - 1\n  - {b: .inf}\n", "line 3: a.1.b: .inf is not a finite number"),
        ("a: +.Inf\n", "line 1: a: +.Inf is not a finite number"),
        ("a: .NaN\n", "line 1: a: .NaN is not a finite number"),
        ("a: -1e400\n", "line 1: a: -1e400 is not a finite number"),
        ("a: 9223372036854775808\n", "line 1: a: 9223372036854775808... is not allowed"),
        ("a: !!int 1\n", "line 1: tag tag:yaml.org,2002:int is not allowed"),
        ("a: ! 1\n", "line 1: tag ! is not allowed"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "line 1: anchor &x is not allowed"),
        ("null: 1\n", "line 1: key null is not text"),
        ("1.5: 1\n", "line 1: key 1.5 is not text"),
        ("true: 1\n", "line 1: key true is not text"),
        ("[a]: 1\n", "line 1: a key must be text, not a block"),
        ("a: [1\nb: 2\n", "line 2: not valid YAML"),
        ("a:\n\tb: 1\n", "line 2: not valid YAML: a tab is not allowed"),
        ("a: 'open\n", "line 2: not valid YAML"),
        ("a: 1\n---\nb: 2\n", "line 2: not valid YAML: a second document"),
        ("[" * 1000, "line 1: nested too deeply"),
        ("a: \x07\n", "not valid YAML"),
    ],
)
def test_what_is_refused_and_where(tmp_path, text, error):
    with pytest.raises(UserError) as caught:
        load(tmp_path, text)
    assert str(caught.value).startswith(f"some.yaml: {error}")
    assert str(caught.value).isprintable()


def test_a_reader_without_the_c_library_refuses_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(strict_yaml, "_LOADER", strict_yaml.yaml.SafeLoader)
    assert load(tmp_path, "a: [1e-3, yes]\n") == {"a": [1e-3, "yes"]}
    for text in ("a: &x 1\n", "a: !t 1\n", "a: 1\na: 2\n", "a:\n\tb: 1\n", "[" * 1000):
        with pytest.raises(UserError):
            load(tmp_path, text)


@pytest.mark.parametrize("text", ["-0.0", "-0.", "-0e5", "-1e-400", "-.0E-2"])
def test_zero_has_one_sign(tmp_path, text):
    assert str(load(tmp_path, f"key: {text}\n")["key"]) == "0.0"
