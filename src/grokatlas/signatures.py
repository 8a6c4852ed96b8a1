"""What the `build` of a component takes, read from its source so that a plan never imports torch."""

import ast
import functools
from dataclasses import dataclass

from grokatlas.components import FOLDERS, PACKAGE

# keywords that the engine passes itself; a YAML must not
ENGINE_KEYWORDS = {"generator", "data"}


@dataclass(frozen=True)
class Signature:
    """What `build` of a component takes: blocks by position, keywords with their annotations."""

    blocks: tuple[str, ...]
    keywords: dict[str, ast.expr]


@functools.cache
def signature(block: str, name: str) -> Signature:
    """What ``build`` in the component's file takes, read from its source.

    Raises:
        LookupError: the file has no function ``build``, or a keyword without annotation.
    """
    source = (PACKAGE / FOLDERS[block] / f"{name}.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == "build":
            blocks = tuple(argument.arg for argument in node.args.args)
            keywords = {}
            for argument in node.args.kwonlyargs:
                if argument.arg in ENGINE_KEYWORDS:
                    continue
                if argument.annotation is None:
                    raise LookupError(f"{name}.py: keyword {argument.arg} of build has no type")
                keywords[argument.arg] = argument.annotation
            return Signature(blocks, keywords)
    raise LookupError(f"{FOLDERS[block]}/{name}.py has no function build")
