"""The origin of the columns of a figure's data, as far as it is recorded."""

import csv
from pathlib import Path
from typing import Any

from grokatlas.audit.tree import Tree
from grokatlas.engine import members
from grokatlas.errors import UserError
from grokatlas.results import dotted, layout

ROW_KEYS = ("paper", "experiment", "scale", "case", "run", "record", "member")


def lines(tree: Tree, target: str) -> list[str]:
    """The origin of every plotted column, and last the command that makes the figure again."""
    content = tree.results[target].sound
    if content["kind"] != "figure":
        return command(content, target)
    spec = content["spec"]
    known = _table_columns(tree, target)
    module = spec.get("module") or f"grokatlas.papers.{spec['paper']}.{spec['figure']}"
    text = [f"columns of {target}.csv:"]
    for column in _header(tree, f"{target}.csv"):
        origin = known.get(column, f"computed in {module} from its tables")
        text.append(f"  {column}: {origin}")
    return [*text, "", *command(content, target)]


def command(content: dict[str, Any], target: str) -> list[str]:
    """The commands that make a result again from nothing; the last line is the command alone."""
    git = content.get("git") or {}
    scale = content["spec"].get("scale", target.split("/")[1])
    config = f" --config scale={scale}" if "scale" in content["spec"] else ""
    file = layout.outputs(content["kind"], Path(target))[0].as_posix()
    text = []
    if git.get("dirty"):
        text.append("its code had uncommitted changes: the commit alone is not all of it")
    checkout = f"git checkout {git['commit']} && " if git.get("commit") else ""
    text += [
        "to make it again, from the data on:",
        f"{checkout}snakemake --cores all --forceall {file}{config}",
    ]
    return text


def _header(tree: Tree, name: str) -> list[str]:
    recorded = tree.owner(name)
    try:
        if recorded is None or tree.sha256(name) != recorded.outputs.get(name):
            raise UserError(name, "is not the file its manifest records; `grokatlas verify` it")
        with tree.path(name).open(encoding="utf-8", newline="") as stream:
            return next(csv.reader(stream), [])
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(name, f"cannot be read: {error}") from None


def _table_columns(tree: Tree, figure: str) -> dict[str, str]:
    """The columns of a figure's tables, each with where the table took it from."""
    origins: dict[str, str] = {}
    described = dict.fromkeys(ROW_KEYS, "names the row of its table")
    for table in tree.inputs(figure):
        for upstream in tree.inputs(table):
            content = tree.results[upstream].sound
            if content.get("kind") == "run":
                described |= _spec_columns(content["spec"])
                origins |= _parquet(tree, f"{upstream}/history.parquet", "logged during training")
            elif content.get("kind") == "measure":
                name = content["spec"]["measure"]["name"]
                origins |= _parquet(tree, f"{upstream}.parquet", f"measured by measures/{name}.py")
        origins |= _light(tree, table, {*origins, *described})
    return origins | described


def _light(tree: Tree, table: str, explained: set[str]) -> dict[str, str]:
    """The other columns of a table, which its light measures fill."""
    from pyarrow import compute, parquet

    file, content = f"{table}.parquet", tree.results[table].sound
    names = {measure["name"] for measure in dotted.light(content.get("spec", {}))}
    if not names or not tree.path(file).is_file():
        return {}
    if tree.sha256(file) != content["outputs"].get(Path(file).name):
        return {}
    columns = [name for name in parquet.read_schema(tree.path(file)).names if name not in explained]
    rows = parquet.read_table(tree.path(file), columns=["record", *columns])
    origins = {}
    for column in columns:
        filled = rows.filter(compute.is_valid(rows[column]))["record"].unique().to_pylist()
        by = " or ".join(f"measures/{name}.py" for name in sorted(filled or names))
        origins[column] = f"measured by {by} (table column of that name)"
    return origins


def _spec_columns(spec: dict[str, Any]) -> dict[str, str]:
    blocks = {key: value for key, value in spec.items() if key != "ensemble"}
    axes = {path: values[0] for path, values in members.paths(spec).items()}
    origins = dict.fromkeys(dotted.flat(blocks), "from the runs' specs")
    member = "varies from member to member (ensemble axis)"
    return origins | {path: member for axis, v in axes.items() for path in dotted.flat(v, axis)}


def _parquet(tree: Tree, name: str, origin: str) -> dict[str, str]:
    """The column names of a parquet file; nothing where it cannot be read."""
    import pyarrow as pa
    from pyarrow import parquet

    if name in tree.refused:
        return {}
    try:
        columns = parquet.read_schema(tree.path(name)).names
    except (OSError, pa.ArrowException):
        return {}
    return dict.fromkeys(columns, f"{origin} (table column of that name)")
