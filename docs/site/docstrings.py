"""Docstrings in Google's style as Markdown, read from the source: nothing is imported."""

import ast
import inspect
import re

SECTION = re.compile(
    r"^(Args|Attributes|Returns|Raises):\n((?:[ ]{4}.*(?:\n|\Z)|\n)*)", re.MULTILINE
)
ENTRY = re.compile(r"^[ ]{4}(?=[\w*]+(?:, [\w*]+)*:)", re.MULTILINE)
RULE = re.compile(r"^={2,}(?: ={2,})+$")
# code, emphasis, and what Markdown would take for markup
SPANS = re.compile(
    r"(``.*?``|`[^`]*`|(?<!\w)\*\w[^*`]*\w\*(?!\w))|(<)(?=[\w/])|(?<=\S)(\*)", re.DOTALL
)


def markdown(docstring: str, *, arguments: bool = True) -> str:
    """A docstring as Markdown.

    Args:
        docstring: as it stands in the source.
        arguments: whether the section ``Args`` is kept.
    """
    text = inspect.cleandoc(docstring) + "\n"
    parts, end = [], 0
    for section in SECTION.finditer(text):
        parts.append(_paragraphs(text[end : section.start()]))
        end = section.end()
        if arguments or section[1] != "Args":
            parts.append(_section(section[1], section[2]))
    parts.append(_paragraphs(text[end:]))
    return "\n\n".join(part for part in parts if part)


def module(text: str, *, level: int = 2) -> str:
    """What a module's docstring says, and each public class and function, as Markdown.

    Args:
        text: of the module.
        level: of the headings.
    """
    tree = ast.parse(text)
    parts = [markdown(ast.get_docstring(tree) or "")]
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            parts += _definition(node, level)
    return "\n\n".join(parts) + "\n"


def _definition(node: ast.ClassDef | ast.FunctionDef, level: int) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [f"{'#' * level} {node.name}", _signature(node), markdown(_docstring(node))]
    parts = [f"{'#' * level} {node.name}", markdown(_docstring(node))]
    for method in node.body:
        public = isinstance(method, ast.FunctionDef) and (
            not method.name.startswith("_") or method.name in ("__call__", "__init__")
        )
        if public and _docstring(method):
            parts += [_signature(method), markdown(_docstring(method))]
    return parts


def _docstring(node: ast.ClassDef | ast.FunctionDef) -> str:
    return ast.get_docstring(node) or ""


def _signature(node: ast.FunctionDef) -> str:
    if any(getattr(each, "id", "") == "property" for each in node.decorator_list):
        return f"```python\n{node.name}: {ast.unparse(node.returns)}\n```"
    line = f"{node.name}({ast.unparse(node.args)})"
    line += f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"```python\n{line}\n```"


def _section(name: str, body: str) -> str:
    text = inspect.cleandoc("\n" + body)
    entries = ENTRY.split("\n".join(f"    {line}" for line in text.splitlines()))
    if name == "Returns" or len(entries) < 2:
        return f"**{name}** {plain(text)}"
    items = []
    for entry in entries[1:]:
        key, _, meaning = entry.partition(":")
        items.append(f"* `{key}`: {plain(' '.join(meaning.split()))}")
    return f"**{'Arguments' if name == 'Args' else name}**\n\n" + "\n".join(items)


def _paragraphs(text: str) -> str:
    """Paragraphs; those that are indented are equations, those between rules tables."""
    parts = []
    for part in re.split(r"\n{2,}", text.strip("\n")):
        lines = part.splitlines()
        if lines and all(line.startswith("    ") for line in lines):
            shown = [line[4:].replace("``", "") for line in lines]
            parts.append("```text\n" + "\n".join(shown) + "\n```")
        elif len(lines) > 2 and RULE.match(lines[0]) and RULE.match(lines[-1]):
            width = lines[0].index(" ")
            rows = [(line[:width].strip(), plain(line[width:].strip())) for line in lines[1:-1]]
            parts.append(
                "\n".join(["| | |", "| --- | --- |", *(f"| {a} | {b} |" for a, b in rows)])
            )
        else:
            parts.append(plain(part))
    return "\n\n".join(parts)


def plain(text: str) -> str:
    """Text in which only code and emphasis are markup."""
    return SPANS.sub(lambda found: found[1] or f"\\{found[2] or found[3]}", text)
