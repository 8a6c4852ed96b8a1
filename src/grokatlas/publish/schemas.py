"""The editor's schemas of `config/papers/`, made from models and components."""

import json
import re
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from grokatlas import registry
from grokatlas.declare import claim_models, foreign, models, references, signatures, starts
from grokatlas.declare.checked_types import annotation_type

DIALECT = "https://json-schema.org/draft/2020-12/schema"
COMPONENTS = "components.json"  # what an overlay may hold: said once, and every component is in it


def texts() -> dict[str, str]:
    """The schema of each file of a paper, as text, by its path below `config/`.

    They are made of the models and of the keywords of every component. What an overlay may hold is
    in a file of its own, to which the others refer.
    """
    whole = _whole()
    definitions, keys = whole.pop("$defs"), whole["properties"]
    parts = {
        models.PAPER: {
            **whole,
            "properties": {k: v for k, v in keys.items() if k not in models.OTHER_FILES},
        },
        models.EXPERIMENTS: keys["experiments"] | {"type": "object"},
        models.CLAIMS: {"type": "object", "additionalProperties": {"$ref": "#/$defs/ClaimGroup"}},
    }
    of_overlays = _used({"$ref": "#/$defs/Overlay"}, definitions)
    components = _text(_tidy({"$schema": DIALECT, "$defs": of_overlays})) + "\n"
    schemas = {f"schema/{COMPONENTS}": components}
    for file, part in parts.items():
        own = {k: v for k, v in _used(part, definitions).items() if k not in of_overlays}
        text = _text(_tidy({"$schema": DIALECT, **part, "$defs": own})) + "\n"
        for name in of_overlays:
            text = text.replace(f'"#/$defs/{name}"', f'"{COMPONENTS}#/$defs/{name}"')
        schemas[f"schema/{Path(file).with_suffix('.json')}"] = text
    return schemas


def _text(schema: dict[str, Any], indent: str = "") -> str:
    """A schema as JSON: each definition and each key has a line, with all that is said of it."""
    parts = {key: json.dumps(value, sort_keys=True) for key, value in schema.items()}
    inner = indent + " "
    for key in schema.keys() & {"$defs", "properties"}:
        lines = [
            f'{inner}"{name}": {_text(schema[key][name], inner)}' for name in sorted(schema[key])
        ]
        parts[key] = ",\n".join(lines).join(("{\n", f"\n{indent}}}"))
    return "{" + ", ".join(f'"{key}": {parts[key]}' for key in sorted(parts)) + "}"


def _used(part: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The definitions that a part of a schema refers to, directly or not."""
    used: dict[str, Any] = {}
    waiting = [part]
    while waiting:
        for name in re.findall(r'"#/\$defs/([^"]+)"', json.dumps(waiting.pop())):
            if name not in used:
                used[name] = definitions[name]
                waiting.append(definitions[name])
    return used


def _whole() -> dict[str, Any]:
    """The schema of a paper as the models have it, with the keywords of every component."""
    schema = models.Paper.model_json_schema(by_alias=True)
    definitions = schema["$defs"] | models.Train.model_json_schema()["$defs"]
    definitions["ClaimGroup"] = claim_models.ClaimGroup.model_json_schema()
    definitions["ClaimGroup"]["properties"]["claims"]["items"] = {"$ref": "#/$defs/Claim"}
    definitions["Claim"] = claim_models.Claim.model_json_schema(by_alias=True)
    for model in ("ClaimGroup", "Claim"):
        definitions[model].pop("$defs", None)
    # a group, or the paper that `as` points to, gives what an entry lacks
    definitions["Claim"]["required"] = ["id"]
    definitions["Figure"]["required"] = []
    definitions["Train"] = models.Train.model_json_schema() | {"required": []}
    definitions["Train"].pop("$defs")
    definitions["Start"] = starts.Start.model_json_schema() | {"required": []}
    for log in foreign.MODELS.values():
        definitions[log.__name__] = log.model_json_schema() | {"required": []}
    for block in registry.FOLDERS:
        names = registry.names(block)
        for name in names:
            definitions[f"{block}.{name}"] = _component_schema(block, name)
        refs = [{"$ref": f"#/$defs/{block}.{name}"} for name in names]
        definitions[block] = {"anyOf": [*refs, {"type": "null"}]}
    for model in ("Overrides", "Overlay", "Experiment"):
        properties = definitions[model]["properties"]
        for block in registry.FOLDERS:
            entry: dict[str, Any] = {"$ref": f"#/$defs/{block}"}
            if block in registry.LISTS:
                entry = {"anyOf": [{"type": "array", "items": entry}, {"type": "null"}]}
            properties[block] = entry | {"description": properties[block]["description"]}
        properties["train"] = {"anyOf": [{"$ref": "#/$defs/Train"}, {"type": "null"}]}
        names_of = {key: log.__name__ for key, log in foreign.MODELS.items()}
        for key, name in {"start": "Start", **names_of}.items():
            properties[key] = {"anyOf": [{"$ref": f"#/$defs/{name}"}, {"type": "null"}]}
    schema["$defs"] = dict(sorted(definitions.items()))
    return schema


def _component_schema(block: str, name: str) -> dict[str, Any]:
    """One component's keywords, none required: an overlay may hold a part of a block."""
    signature = signatures.signature(block, name)
    properties: dict[str, Any] = {"name": {"const": name, "description": signature.summary}}
    for keyword, annotation in signature.keywords.items():
        kind = TypeAdapter(annotation_type(annotation)).json_schema()
        meaning = signature.meanings.get(keyword)
        other = [{"type": "string", "pattern": references.PATTERN}]
        kinds = [kind, *(other if block in references.BLOCKS else [])]
        properties[keyword] = {"anyOf": [*kinds, {"type": "null"}]}
        properties[keyword] |= {"description": meaning} if meaning else {}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _tidy(schema: Any) -> Any:
    """A schema without the titles that pydantic makes of field names, closed to other names."""
    if isinstance(schema, list):
        return [_tidy(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    tidied = {k: _tidy(v) for k, v in schema.items() if k != "title" or not isinstance(v, str)}
    return tidied | ({"additionalProperties": False} if "patternProperties" in tidied else {})
