"""The command `check-components`: what every component owes, tried on the study's own.

A component is tried in the runs of scale smoke that name it, which have its keywords: so a study
needs to declare one experiment that uses it, and nothing else.
"""

from collections.abc import Iterator
from typing import Any

from grokatlas import registry
from grokatlas.code import code_digest
from grokatlas.declare import signatures
from grokatlas.errors import UserError, nearest
from grokatlas.plan import remaining

Block = tuple[str, str]  # a block and the name of a component


def main(chosen: list[str]) -> Iterator[str]:
    """Check components, all of the study if none is chosen; a line for each check."""
    components = _chosen(chosen)
    runs = [job.spec for job in remaining.at("smoke").plan.runs.values()]
    failed = count = 0
    for block, name in components:
        for what, problem in _checked(block, name, runs):
            count += 1
            failed += bool(problem)
            yield f"{block} {name}: {what}: {problem or 'ok'}"
    if failed:
        raise UserError("check-components", f"{failed} of {count} checks failed; see above")


def of_study() -> list[Block]:
    """The components of the study, by block and name."""
    folders = {folder: block for block, folder in registry.FOLDERS.items()}
    files = [file for file in registry.modules_of_study() if file.parts[0] == "components"]
    components = [(folders[file.parts[1]], file.stem) for file in files if len(file.parts) == 3]
    return [(block, name) for block, name in components if not name.startswith("_")]


def _chosen(names: list[str]) -> list[Block]:
    known = of_study()
    if not known:
        problem = "no component in components/ of this folder"
        raise UserError("check-components", f"{problem}; run it in a study (grokatlas new)")
    known_names = [name for _, name in known]
    for name in names:
        if name not in known_names:
            problem = f"no component {name!r} in this study; {nearest(name, known_names)}"
            raise UserError("check-components", problem)
    return [(block, name) for block, name in known if not names or name in names]


def _checked(block: str, name: str, runs: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """The checks, and what is wrong; empty for nothing."""
    yield "documented", _documented(block, name)
    using = [spec for spec in runs if _names(spec, block, name)]
    if block == "measures":  # the table of an experiment is its use: no spec of a run names it
        return
    if not using:
        yield "used", "no experiment of config/papers uses it at scale smoke; declare one"
        return
    from grokatlas.rules.jobs import component_errors, devices, undeclared_reads

    devices.use_repeatable_kernels()
    from grokatlas.study import conformance

    reached = [
        module
        for spec in using
        for module in (*code_digest.run_modules(spec), *code_digest.dataset_modules(spec))
    ]
    for check in conformance.checks(block):
        try:
            with undeclared_reads.refused(reached):
                problem = next(filter(None, (check(spec, block, name) for spec in using)), "")
        except UserError as error:
            problem = str(error)
        except (Exception, SystemExit) as error:
            # whatever it is, it is of the component and is reported
            text = component_errors.line(error, using[0])
            if text is None:
                raise
            problem = f"{text} {component_errors.MORE}"
        yield check.__name__.replace("_", " "), problem


def _documented(block: str, name: str) -> str:
    """The problem of a component's summary or keywords; empty for none."""
    signature = signatures.signature(block, name)
    if not signature.summary:
        return "its file has no docstring; say in one line what it is"
    if defaults := signatures.defaults(block, name):
        return f"keyword {defaults[0]} of build has a default; take it away, so that specs have it"
    return ""


def _names(spec: dict[str, Any], block: str, name: str) -> bool:
    return any(entry["name"] == name for *_, entry in registry.entries(spec, [block]))
