"""The tree behind a figure, table or run, from the manifests alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grokatlas import text as words
from grokatlas.audit import locate, metadata, mixed, values
from grokatlas.audit.tree import Tree
from grokatlas.code import code_digest
from grokatlas.errors import UserError
from grokatlas.results import dotted, endings, foreign, hashing
from grokatlas.results.environment import COMPUTING, DRAWING
from grokatlas.results.manifest import MARK
from grokatlas.results.result import ROOT, Result


@dataclass(frozen=True)
class Node:
    """One result of the tree behind another.

    Attributes:
        title: what it is.
        state: its digest, what is wrong with its manifest, or where it was described before.
        about: spec, members, code, machine and time, a line each.
        missing: files that it was made from and that are not here.
        made_from: runs, then their measures, then data.
    """

    title: str
    state: str
    about: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    made_from: tuple["Node", ...] = ()


def text(tree: Tree, name: str, with_values: bool) -> str:
    """A result, and all that it was made from, with spec, code, machine and time of each.

    Args:
        tree: the results.
        name: a path, ``paper/figure``, a run id, or a pdf or png from elsewhere.
        with_values: also say where each column of a figure's data comes from, and end with the
            command that makes it again.
    """
    target = locate.target(tree, name)
    if not tree.results[target].sound:
        raise UserError(target, f"cannot be explained: {tree.results[target].problem}")
    lines = [*_sent(tree, Path(name), target), *_lines(parts(tree, target), "")]
    lines += [f"note: {line}" for line in mixed.of(mixed.behind(tree, target))]
    lines += ["", f"`grokatlas verify {_shown(tree, target)}` re-hashes all of it"]
    if with_values:
        lines += ["", *values.lines(tree, target)]
    return "\n".join(lines)


def _sent(tree: Tree, path: Path, target: str) -> list[str]:
    """The relation of a file from elsewhere to the one here."""
    if not path.is_file() or locate.targets_below(tree, path):
        return []
    sha = hashing.file_sha256(path)
    twins = [name for name, known in tree.results[target].outputs.items() if known == sha]
    same = f"byte for byte {twins[0]}" if twins else f"not byte for byte a file of {target}"
    return [f"{path}: {metadata.origin(path)}", f"{path}: {same}", ""]


def parts(tree: Tree, target: str, described: set[str] | None = None) -> Node:
    """A result and all that it was made from; what is in `described` is not described again."""
    described = set() if described is None else described
    result, called = tree.results[target], title(target)
    if target in described:
        return Node(called, "see above")
    described.add(target)
    if not result.sound:
        return Node(called, result.problem)
    content = result.sound
    without_files = "" if result.files else "; its files were not kept"
    return Node(
        called,
        f"digest {content['digest'][:12]}{without_files}",
        (*about(content), *_read_elsewhere(tree, result)),
        tuple(name for name in content["inputs"] if tree.owner(name) is None),
        tuple(parts(tree, upstream, described) for upstream in _made_from(tree, result)),
    )


def _read_elsewhere(tree: Tree, result: Result) -> list[str]:
    """The files that a result was made from where other ones of the same job are here."""
    owners = ((name, sha256, tree.owner(name)) for name, sha256 in result.inputs.items())
    return [
        f"made from another {name} than is here (sha256 {sha256[:12]}), of the same job"
        for name, sha256, owner in owners
        if owner and owner.outputs.get(name) != sha256 and tree.fits(owner, name, sha256)
    ]


def _lines(part: Node, indent: str) -> list[str]:
    """A part as text, what it was made from indented."""
    lines = [f"{indent}{part.title}: {part.state}"]
    lines += [f"{indent}  {line}" for line in part.about]
    lines += [f"{indent}  {name}: missing" for name in part.missing]
    return [*lines, *(line for each in part.made_from for line in _lines(each, indent + "  "))]


def _made_from(tree: Tree, result: Result) -> list[str]:
    """The results that a result read: runs, then their measures, then data."""
    targets = tree.inputs(result.target)
    later = (f"{ROOT}/data/", f"{ROOT}/measures/")
    return sorted(targets, key=lambda target: [target.startswith(place) for place in later])


def about(content: dict[str, Any]) -> list[str]:
    """Spec, members, code, machine, and time of one result, by its manifest."""
    lines = []
    if content["kind"] == "run":
        lines += [*dotted.compact(content["spec"]), dotted.members(content["spec"])]
        lines += foreign.origin(content)
    elif content["kind"] == "dataset":
        tasks = content["spec"].get("tasks", [])
        lines += dotted.compact({"task": tasks[:1]})
        lines += [f"{len(tasks)} tasks, one for each member"] if len(tasks) > 1 else []
    elif content["kind"] == "measure":
        lines += dotted.compact(content["spec"])
    elif content["kind"] == "table":
        measures = dotted.light(content["spec"])
        lines_of_each = [line for each in measures for line in dotted.compact({"measure": each})]
        lines += dict.fromkeys(lines_of_each)
        some = words.so_far(content["spec"].get("so_far", []))
        lines += [f"so far: {some}"] if some else []
    lines += [_code(content), *_software(content), _machine(content)]
    for segment in content.get("segments", []):
        job = f", job {segment['job']}" if segment.get("job") else ""
        steps = f"steps {segment.get('start_step')} to {segment.get('end_step')}"
        others = "".join(f", {name} {version}" for name, version in _changed(segment, content))
        lines.append(f"segment: {steps} on {segment.get('host')}{job}{others}")
    lines += filter(None, [endings.summary(content)])
    mark = content.get(MARK)
    if isinstance(mark, dict):
        where = f"{mark.get('when')} on {mark.get('host')}"
        lines.append(f"brought from the run store {where}, entry {mark.get('entry')}")
    if content["kind"] == "figure" and content.get("partial"):
        lines.append("drawn from tables that earlier code made; `snakemake` makes it again")
    for note in content.get("accepted", []):
        change = f"{note['old'][:12]} -> {note['new'][:12]}"
        changed = f"; changed: {', '.join(note['changed'])}" if note.get("changed") else ""
        who = f"{note['who']}, {note['when']}"
        lines.append(f"accepted: {note['reason']} ({who}, digest {change}{changed})")
    return lines


def _code(content: dict[str, Any]) -> str:
    problem = f" ({content['git_problem']})" if content.get("git_problem") else ""
    commit = _commit(content.get("git")) or f"commit unknown{problem}"
    if "study" in content:
        commit += f", study {_commit(content['study']) or 'in no repository'}"
    code = content["code"]
    return (
        f"code: {len(code)} modules, digest {hashing.of(code_digest.values(code))[:12]}, {commit}"
    )


def _commit(git: dict[str, Any] | None) -> str:
    """A commit in words; empty where it is not known."""
    if not git or not git.get("commit"):
        return ""
    state = "with uncommitted changes" if git.get("dirty") else "clean"
    return f"commit {git['commit'][:12]} ({state})"


def _software(content: dict[str, Any]) -> list[str]:
    """The packages that made a result, and variables that choose kernels; threads are elsewhere."""
    versions, variables = content.get("versions") or {}, content.get("environment") or {}
    packages = DRAWING if content["kind"] == "figure" else ("python", *COMPUTING)
    made_by = [f"{name} {versions[name]}" for name in packages if name in versions]
    chosen = [f"{name}={value}" for name, value in variables.items() if "_THREADS" not in name]
    listed = {"packages": made_by, "set": chosen}
    return [f"{key}: {', '.join(texts)}" for key, texts in listed.items() if texts]


def _changed(segment: dict[str, Any], content: dict[str, Any]) -> list[tuple[str, str]]:
    """The packages of a part of a run that are not those of its last part."""
    last = content.get("versions") or {}
    own = segment.get("versions") or {}
    return [(name, version) for name, version in own.items() if last.get(name) != version]


def _machine(content: dict[str, Any]) -> str:
    host, device = content.get("host") or {}, content.get("device") or {}
    when, where = content.get("started", "at an unknown time"), host.get("name", "unknown")
    parts = [f"made {when} on {where}"]
    parts += [str(host[key]) for key in ("cpu", "cpu_capability") if key in host]
    if device.get("type") == "cuda":
        parts.append(
            f"GPU {device.get('name')} ({device.get('uuid')}, driver {device.get('driver')}, "
            f"{device.get('memory_mb')} MB)"
        )
    elif device:
        parts.append(f"no GPU, {device.get('threads')} threads")
    times = {"wall": "wall_seconds", "on the device": "train_seconds"}
    parts += [f"{content[key]} s {label}" for label, key in times.items() if key in content]
    return ", ".join(parts)


def title(target: str) -> str:
    """The name of a result in words: ``figure PAPER/fig1 (quick scale)``."""
    parts = target.split("/")
    kinds = {"data": "data set", "runs": "run", "measures": "measure"}
    if parts[1] in kinds:
        return f"{kinds[parts[1]]} {'/'.join(parts[2:])}"
    if len(parts) > 3:
        return f"{parts[2].removesuffix('s')} {'/'.join(parts[3:])} ({parts[1]} scale)"
    if len(parts) == 3:
        return f"{'pages' if parts[2] == 'atlas' else parts[2]} ({parts[1]} scale)"
    return target


def _shown(tree: Tree, target: str) -> str:
    name = str(tree.path(target))
    return name if tree.folder.name == ROOT else f"{name} --results {tree.folder}"
