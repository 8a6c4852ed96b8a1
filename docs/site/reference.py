"""Pages made from the code: the commands, and the components with their equations."""

import argparse
import ast
import functools

from docstrings import markdown, module, plain

from grokatlas import cli_commands as declared
from grokatlas import cli_types, registry
from grokatlas import text as words
from grokatlas.code import module_shape
from grokatlas.declare import signatures
from grokatlas.publish import config_reference

GROUPS = {
    "Runs": (declared.RUNS, "What is planned, how far it is, and what stands in its way."),
    "Audit": (
        declared.AUDIT,
        "Where a result comes from, and whether it still is what it was.",
    ),
    "Export": (declared.EXPORT, "Results for others, and from others."),
    "Benchmark": (declared.BENCHMARK, "Methods that hasten generalisation: docs/benchmark.md."),
    "Run store": (declared.RUN_STORE, "Finished runs that several checkouts share."),
    "Study": (declared.STUDY, "Experiments and components of your own, outside this checkout."),
    "Publishing": (
        declared.PUBLISH,
        "What this repository repeats of its configuration and results.",
    ),
    "Jobs": (
        declared.JOBS,
        "What the rules of the workflow call; a run needs no more than `train`.",
    ),
}
COMMANDS = """\
# Commands

`grokatlas COMMAND` in the environment, or `python -m grokatlas COMMAND`; `--help` says the same as
this page. A mistake of the user is one line on stderr and exit code 1 (of compare and diff 2).
"""
COMPONENTS = {
    "task": "what is learnt: data and labels",
    "model": "the network",
    "loss": "what compares outputs and targets",
    "optimizer": "the rule that turns a gradient into a step",
    "dynamics": "what a step is, where it is not plain training by the gradient",
    "penalties": "terms that are added to the loss",
    "gradients": "changes of the gradient before the optimizer sees it, in the order given",
    "updates": "changes of the step that the optimizer makes, in the order given",
    "inputs": "changes of the training inputs",
    "observables": "what is logged during training",
    "measures": "what is computed of a finished run",
}
OVERVIEW = """\
# Components

What an experiment is put together from. A component is one file, and its name in the YAML is the
name of the file: `optimizer: {name: gd, lr: 0.1}`. No keyword has a default, so that every number
that a run used is in its spec.
"""
COMPONENT_PAGE = """\
# {title}

The block `{block}`: {what}. Keywords that are marked with * may be an axis of the ensemble. The
text is that of the docstrings of each file.
"""


def commands() -> str:
    """The page of the command line."""
    parts = [COMMANDS]
    for heading, (entries, about) in GROUPS.items():
        parts += [f"## {heading}", about, *map(_command, entries)]
    return "\n\n".join(parts) + "\n"


def _command(command: cli_types.Command) -> str:
    wide = functools.partial(argparse.HelpFormatter, width=96)
    parser = argparse.ArgumentParser(f"grokatlas {command.name}", formatter_class=wide)
    rows = []
    for argument in command.arguments:
        argument.add_to(parser)
        names = ", ".join(f"`{name}`" for name in argument.names)
        if "metavar" in argument.keywords and not argument.names[0].startswith("-"):
            names = f"`{argument.keywords['metavar']}`"
        choices = " or ".join(f"`{each}`" for each in argument.keywords.get("choices", ()))
        rows.append([names, "; ".join(filter(None, [choices, argument.keywords.get("help", "")]))])
    usage = parser.format_usage().removeprefix("usage: ").rstrip()
    table = "\n\n" + words.markdown_table(["argument", "meaning"], rows) if rows else ""
    about = f"{command.help[0].upper()}{command.help[1:]}."
    return f"### {command.name}\n\n{about}\n\n```text\n{usage}\n```{table}".rstrip()


def overview() -> str:
    """The page of all components, a line for each, above the pages of their kinds."""
    parts = [OVERVIEW]
    for block, folder in registry.FOLDERS.items():
        lines = [f"[{name}](components/{folder}.md#{name})" for name in registry.names(block)]
        summaries = [signatures.signature(block, name).summary for name in registry.names(block)]
        rows = [list(row) for row in zip(lines, map(plain, summaries), strict=True)]
        head = f"## {folder.capitalize()}\n\n`{block}`: {COMPONENTS[block]}."
        parts += [head, words.markdown_table(["component", "what it is"], rows)]
    pages = "\n".join(f"components/{folder}" for folder in registry.FOLDERS.values())
    return "\n\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{pages}\n```"]) + "\n"


def components(block: str) -> str:
    """The page of the components of a block."""
    title = registry.FOLDERS[block].capitalize()
    head = COMPONENT_PAGE.format(title=title, block=block, what=COMPONENTS[block])
    return "\n\n".join([head, *(_component(block, name) for name in registry.names(block))]) + "\n"


def _component(block: str, name: str) -> str:
    tree = module_shape.syntax_tree(registry.path(block, name))
    parts = [f"## {name}", markdown(ast.get_docstring(tree) or "")]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "build":
            parts.append(markdown(ast.get_docstring(node) or "", arguments=False))
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            text = ast.get_docstring(node) or ""
            if len(text.splitlines()) > 1:  # an equation; else what the name says already
                parts.append(markdown(text, arguments=False))
    parts.append(config_reference.keyword_table(block, name))
    file = f"src/grokatlas/components/{registry.FOLDERS[block]}/{name}.py"
    parts.append(f"Source: [`{file}`]({name}.py)")
    return "\n\n".join(part for part in parts if part)


def contracts() -> str:
    """The page of what components are called with."""
    text = (registry.PACKAGE / "engine" / "contracts.py").read_text(encoding="utf-8")
    return f"# Contracts of components\n\n{module(text)}"
