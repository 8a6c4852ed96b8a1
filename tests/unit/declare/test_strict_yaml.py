"""YAML as plain data: YAML 1.2 numbers, and nothing that is not plain."""

import pytest

from grokatlas.declare import strict_yaml
from grokatlas.errors import UserError
from tests import cases


def load(folder, text):
    file = folder / "some.yaml"
    file.write_text(text, encoding="utf-8")
    return strict_yaml.load(file, "some.yaml")


@cases.listed("text", "value")
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


@cases.listed("text", "error")
def test_what_is_refused_and_where(tmp_path, text, error):
    with pytest.raises(UserError) as caught:
        load(tmp_path, text.replace("$DEEP", "[" * 1000))
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
