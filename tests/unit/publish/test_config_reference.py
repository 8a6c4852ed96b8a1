"""`config/README.md` and `config/schema/` say what the code accepts."""

import json
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

from grokatlas import cli, registry
from grokatlas.code import module_shape
from grokatlas.declare import signatures, strict_yaml, validation
from grokatlas.declare.claim_models import Claim, ClaimGroup
from grokatlas.declare.models import (
    OTHER_FILES,
    Deviation,
    Experiment,
    Figure,
    Log,
    Paper,
    Source,
    Train,
)
from grokatlas.declare.settings import Settings
from grokatlas.errors import UserError
from grokatlas.publish import config_reference, schemas
from tests import cases
from tests.checkout import CONFIG
from tests.unit.malformed import FILES

# by the names under which they refer to each other
SCHEMAS = {Path(name).name: json.loads(text) for name, text in schemas.texts().items()}
BESIDE = Registry().with_resources((k, Resource.from_contents(v)) for k, v in SCHEMAS.items())


@pytest.mark.parametrize("name", ["README.md", *schemas.texts()])
def test_the_committed_files_are_what_the_code_says(name):
    fresh = config_reference.texts()[name] == (CONFIG / name).read_text()
    assert fresh, f"config/{name} is out of date: run `grokatlas reference`"


def test_nothing_is_written_where_there_is_no_configuration(tmp_path, capsys):
    assert cli.main(["reference", str(tmp_path / "nosuch")]) == 1
    assert "no paper in" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "model", [Settings, Paper, Source, Deviation, Figure, ClaimGroup, Claim, Experiment, Train, Log]
)
def test_every_key_has_a_description_in_the_reference(model):
    text = config_reference.readme()
    for name, field in model.model_fields.items():
        if model is Paper and name in OTHER_FILES:
            continue  # files of their own
        assert field.description
        assert f"| `{field.alias or name}` |" in text
        assert field.description in text


@pytest.mark.parametrize("block", registry.FOLDERS)
def test_every_component_stands_in_the_reference(block):
    text = config_reference.readme()
    for name in registry.names(block):
        assert f"**`{name}`**: {signatures.signature(block, name).summary}" in text


@pytest.fixture
def odd(tmp_path, monkeypatch):
    """Writes a component called odd, the only one there is."""
    monkeypatch.setattr(module_shape, "PACKAGE", tmp_path / "grokatlas")
    monkeypatch.setattr(registry, "COMPONENTS", tmp_path / "grokatlas/components")

    def write(folder: str, text: str) -> None:
        file = tmp_path / "grokatlas/components" / folder / "odd.py"
        file.parent.mkdir(parents=True)
        file.write_text(text)

    return write


@pytest.mark.parametrize("annotation", ["Positiv", "Literal[x]", "list[Positiv] | None"])
def test_a_keyword_of_no_known_type_is_named_with_its_file(odd, annotation):
    odd("models", f"def build(*, width: int, rate: {annotation}):\n    pass\n")
    place = r"^src/grokatlas/components/models/odd\.py: keyword rate of build: "
    with pytest.raises(UserError, match=place + r".* is no type of a keyword; allowed: float, "):
        validation.check_keywords("model", "odd", {"width": 3, "rate": 1}, set())


@pytest.mark.parametrize("text", ["dict(output_scale=1.0)", '["output_scale"]', '{"width": WIDTH}'])
def test_what_an_equation_settles_must_be_written_out(odd, text):
    odd("dynamics", f"MODEL = {text}\n")
    place = r"^src/grokatlas/components/dynamics/odd\.py: MODEL: "
    with pytest.raises(UserError, match=place + "write out a dict"):
        signatures.settled("odd")


def valid(name: str, content: object) -> bool:
    schema = SCHEMAS[f"{name}.json"]
    return jsonschema.Draft202012Validator(schema, registry=BESIDE).is_valid(content)


@pytest.mark.parametrize(
    "file", sorted((CONFIG / "papers").glob("*/*.yaml")), ids=lambda f: f"{f.parent.name}-{f.stem}"
)
def test_the_schema_accepts_every_paper(file):
    first = file.read_text(encoding="utf-8").partition("\n")[0]
    assert first == f"# yaml-language-server: $schema=../../schema/{file.stem}.json"
    assert valid(file.stem, strict_yaml.load(file))


def test_a_component_is_in_one_schema_alone():
    names = [f"{block}.{name}" for block in registry.FOLDERS for name in registry.names(block)]
    holders = [[file for file in SCHEMAS if name in SCHEMAS[file]["$defs"]] for name in names]
    assert holders == [["components.json"]] * len(names)


@cases.listed("old", "new")
def test_the_schema_refuses_a_mistake(tmp_path, old, new):
    ((name, text),) = [(name, text) for name, text in FILES.items() if old in text]
    file = tmp_path / name
    file.write_text(text)
    assert valid(file.stem, strict_yaml.load(file))
    file.write_text(text.replace(old, new))
    assert not valid(file.stem, strict_yaml.load(file))
