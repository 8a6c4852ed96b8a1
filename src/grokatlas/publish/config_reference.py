"""The key reference of `config/`, made from models and components."""

import ast
import json
import re
import types
import typing
from pathlib import Path
from typing import Any, Union

from pydantic import BaseModel

from grokatlas import registry
from grokatlas import text as words
from grokatlas.declare import (
    bound_numbers,
    claim_models,
    foreign,
    models,
    prose,
    signatures,
    starts,
)
from grokatlas.declare.checked_types import MEMBER_KINDS, annotation_type, phrase
from grokatlas.declare.interpretations import Instead, Interpretation
from grokatlas.declare.papers import load_papers
from grokatlas.declare.settings import Settings
from grokatlas.errors import UserError
from grokatlas.export import evidence
from grokatlas.plan import recorded_studies
from grokatlas.publish import findings, pages, report, schemas, unbound_numbers
from grokatlas.publish.recorded_rows import RecordedRows
from grokatlas.results import files

INTRODUCTION = """\
# Keys of this folder

Made by `grokatlas reference` from `src/grokatlas/declare/models.py` and the component files;
do not edit.
`schema/` says the same of the files in `papers/` to an editor, which finds it by their first line:
`# yaml-language-server: $schema=../../schema/paper.json`.

`digitised_points.csv` in a paper's folder has points that were read off its pictures, in the
columns `figure, panel, curve, x, y, uncertainty, source`: figures draw them at the published size,
and claims measure the distance.

YAML is read strictly: `1e-3` is a number, a key may be written once in a block, and tags, anchors
and aliases are refused. A mistake is told in one line with its place.
"""
OVERLAYS = """\
## Overlays

`defaults`, every experiment, every case, and their `quick` and `smoke` are overlays: blocks that
merge key by key, weakest first: `defaults`, experiment, case, then all `quick`, then all `smoke`.
At scale `paper` neither of these two applies, at `quick` the first, at `smoke` both. A block that
names another component replaces the whole block, a list replaces the whole list, and null takes
away what a weaker overlay gives.

With `as: transformer` an experiment is the one of that name, which is above it in the file. The
keys that it gives itself are laid over that one in the same way.
"""
AXES = """\
`ensemble` holds `seed`, a number of seeds (`3` means 0, 1, 2) or a list of them, and dotted paths
of keywords that are marked with * below, such as `optimizer.lr: [0.1, 0.2]` or
`penalties.0.weight`. Members of a run are the product of these axes and share shapes and steps. A
keyword of an axis has no value beside it in the same overlay or a stronger one, which would not be
used.
`zip` joins axes of as many values each, which members go through together: the three members of
`zip: [{optimizer.lr: [0.1, 0.2, 0.3], model.init_scale: [3, 2, 1]}]`. Each entry of that list is
one axis of the product; `members_per_run` and `run_first` name it by any of its paths.
`sweep` holds dotted paths of any keyword; every point of their product is a run of its own.

`members_per_run` says how many values of an axis share a run: with `{seed: 1}` each seed is a run
of its own, with `{seed: 4}` ten seeds are runs of 4, 4 and 2. Absent, all values share one. The
spec of a run holds its own values alone, so that one more seed trains one run more and leaves the
others as they are. The table is that of one run but for the names of the runs.

`run_first` says how many values of a split axis are run, from the first on. `ensemble: {seed: 10}`,
`members_per_run: {seed: 1}`, `run_first: {seed: 3}` is a table of three seeds of ten: its figures,
claims and pages say `3 of 10 seeds`. A larger number adds the next seeds. It may not cut a run in
two. Both keys are of an overlay as any other; where `quick` has fewer seeds it writes `run_first:
null`.
"""
COMPONENTS = """\
## Components

A block names a component and gives its keywords: `optimizer: {name: gd, lr: 0.1}`. None has a
default: every number that a run used is in its spec. A keyword marked with * may be an axis of the
ensemble.
"""


def main(folder: Path, check: bool = False) -> None:
    """Renew what the pages of papers and `README.md` of a configuration repeat of it.

    Raises:
        UserError: a finding or a number of a page is not what is recorded, or, with `check`, a
            page is out of date, or a recorded number in prose is not bound.
    """
    papers = load_papers(folder / "papers", "all")
    record = RecordedRows(folder.parent / evidence.FOLDER, papers)
    findings.check(papers, record)
    # `pages.texts` refuses other folders
    page_texts = dict(pages.texts(folder, folder.parent / "docs" / "papers"))
    for study in recorded_studies.folders(folder.parent):
        page_texts |= pages.texts(study / "config", study / recorded_studies.PAGES)
    example = folder.parent / "docs" / "report.md"  # it names its paper
    named = re.search(r"`grokatlas report (\w+)", example.read_text()) if example.exists() else None
    if named and named[1] in papers:
        page_texts[example] = report.Report(papers, record, named[1]).text("mlrc")
    page_texts |= {folder / name: text for name, text in texts().items()}
    for file, text in page_texts.items():
        if bound_numbers.LACKING in text and record.claims:
            name = text.partition(bound_numbers.LACKING)[2].partition(")")[0]
            raise UserError(str(file), f"names a number of {name}, which is not recorded")
        if not check:
            files.write_text(file, text)
        elif not file.exists() or text != file.read_text(encoding="utf-8"):
            raise UserError(str(file), "is out of date; run `grokatlas reference`")
    if check:
        unbound_numbers.check(folder)


def texts() -> dict[str, str]:
    """``README.md`` and the files of ``schema``, by their paths in the folder."""
    return {"README.md": readme(), **schemas.texts()}


def readme() -> str:
    """Every key with type, default and meaning, and every component with its keywords."""
    extra = [
        key for key in models.Experiment.model_fields if key not in models.Overlay.model_fields
    ]
    about = [key for key in models.Paper.model_fields if key not in models.OTHER_FILES]
    parts = [
        INTRODUCTION,
        _keys("## `config.yaml`", Settings),
        _keys("## `papers/<paper>/paper.yaml`", models.Paper, about),
        _keys("### `source`", models.Source),
        _keys("### `deviations`, each entry", prose.Deviation),
        _keys("### `interpretations.<name>`", Interpretation),
        _keys("### `interpretations.<name>.instead.<experiment>`", Instead),
        _keys("### `figures.<name>`", models.Figure),
        _keys("### `findings`, each entry", prose.Finding),
        _keys("### `report`", prose.Report),
        _keys("## `papers/<paper>/claims.yaml`: by figure, a group", claim_models.ClaimGroup),
        _keys("### `claims` of a group, each entry", claim_models.Claim),
        _keys(
            "## `papers/<paper>/experiments.yaml`: an overlay (below), and",
            models.Experiment,
            extra,
        ),
        OVERLAYS,
        _keys("", models.Overlay),
        AXES,
        _keys("### `train`", models.Train),
        _keys("### `train.log`", models.Log),
        _keys("### `train.stop.<column>`: a number, or one of", models.Level),
        _keys("### `start`", starts.Start),
        *(_keys(f"### `{key}`", model) for key, model in foreign.MODELS.items()),
        COMPONENTS,
        *(_block(block) for block in registry.FOLDERS),
    ]
    return "\n".join(part.strip() + "\n" for part in parts)


def _keys(heading: str, model: type[BaseModel], only: list[str] | None = None) -> str:
    rows = []
    for name, field in model.model_fields.items():
        if only is not None and name not in only:
            continue
        default = "required" if field.is_required() else _default(field.get_default())
        kind = _words(field.annotation, tuple(field.metadata))
        rows.append([f"`{field.alias or name}`", kind, default, field.description or ""])
    about = f"{heading}\n\n" if heading else ""
    return about + words.markdown_table(["key", "type", "default", "meaning"], rows)


def _block(block: str) -> str:
    place = f"`{block}`" + (", each entry" if block in registry.LISTS else "")
    names = registry.names(block)
    listed = "\n".join(_component(block, name) for name in names) or "No component yet.\n"
    return f"### {place}\n\n{listed}"


def _component(block: str, name: str) -> str:
    rows = keyword_table(block, name)
    summary = signatures.signature(block, name).summary
    return f"**`{name}`**: {summary}\n" + (f"\n{rows}" if rows else "")


def keyword_table(block: str, name: str) -> str:
    """The keywords of a component with type and meaning, as a Markdown table; "" without any."""
    signature = signatures.signature(block, name)
    rows = []
    for keyword, annotation in signature.keywords.items():
        names = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
        varies = names & MEMBER_KINDS and block not in ("task", "observables", "measures")
        kind = _words(annotation_type(annotation))
        meaning = signature.meanings.get(keyword, "").removesuffix(".")
        rows.append([f"`{keyword}`" + ("*" if varies else ""), kind, meaning])
    return words.markdown_table(["keyword", "type", "meaning"], rows) if rows else ""


def _words(kind: Any, metadata: tuple[Any, ...] = ()) -> str:
    """A type in words, without the null that stands for an absent key."""
    if typing.get_origin(kind) in (Union, types.UnionType):
        branches = [each for each in typing.get_args(kind) if each is not type(None)]
        return " or ".join(phrase(each, metadata) for each in branches)
    return phrase(kind, metadata)


def _default(value: Any) -> str:
    plain = value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else value
    return "" if plain in (None, [], {}) else f"`{json.dumps(plain)}`"
