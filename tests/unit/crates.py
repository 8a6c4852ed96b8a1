"""Read an RO-Crate, and validate it without a network."""

import json
import zipfile
from pathlib import Path

from rocrate_validator import services
from rocrate_validator.models import Severity
from rocrate_validator.utils.http import HttpRequester

from grokatlas.export import ro_crate

CONTEXT = Path(__file__).with_name("ro_crate_context.json").read_text(encoding="utf-8")
PROFILES = ("process-run-crate", "workflow-run-crate", "provenance-run-crate")


class Context:
    """The one answer that validation needs from the network: the RO-Crate 1.1 context."""

    status_code = 200
    headers = {"Content-Type": "application/ld+json"}  # noqa: RUF012
    text = CONTEXT

    def json(self):
        return json.loads(CONTEXT)


def get(self, url, **keywords):
    assert url == "https://w3id.org/ro/crate/1.1/context", f"asked the network for {url}"
    return Context()


def entities(file: Path) -> dict[str, dict]:
    with zipfile.ZipFile(file) as archive:
        graph = json.loads(archive.read(ro_crate.METADATA))["@graph"]
    assert len({entity["@id"] for entity in graph}) == len(graph)
    return {entity["@id"]: entity for entity in graph}


def several(value) -> list:
    return value if isinstance(value, list) else [value]


def ids(value) -> set[str]:
    return {reference["@id"] for reference in several(value)}


def of_type(file: Path, type_: str) -> dict[str, dict]:
    return {id_: e for id_, e in entities(file).items() if type_ in several(e["@type"])}


def issues(file: Path, profile: str, severity: Severity, monkeypatch, folder: Path) -> set[str]:
    monkeypatch.setattr(HttpRequester, "get", get, raising=False)
    settings = services.ValidationSettings(
        rocrate_uri=str(file),
        profile_identifier=profile,
        requirement_severity=severity,
        offline=True,
        cache_path=folder / "cache",
    )
    return {issue.message for issue in services.validate(settings).get_issues()}
