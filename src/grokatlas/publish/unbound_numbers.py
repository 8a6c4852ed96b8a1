"""Literal numbers in prose that repeat the recorded value of a claim named in their sentence.

Such a number outlives the record; `declare.bound_numbers` says how it is bound instead. Published
numbers, a table's columns of others, and keys of YAML that say what is published or set may stay.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

from grokatlas.declare import bound_numbers, models
from grokatlas.declare.bound_numbers import IN_BRACES, IN_COMMENT, Records
from grokatlas.errors import UserError

GENERATED = re.compile(r"<!-- (\w+): made by .*?<!-- end of \1 -->", re.DOTALL)
CLAIM = re.compile(r"(?<!\w)(?<!\w-)(?:[a-z]\w*/)?[A-Z]+\d+[a-z]?(?!\w)")
NUMBER = re.compile(
    r"(?P<to>\bto\s+)?(?:(?<![\w.,/^-])|(?<=\bx))(?P<digits>-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)"
    r"(?P<percent>\s+percent)?(?![\w/]|[.,]\d|-\d)(?P<from>\s+to\b)?"
)
PUBLISHED = re.compile(r"\bpublished\b[^;)]*")
CELL = re.compile(r"(?<!\\)\|")
TABLE = re.compile(r"^\|.*(?:\n\|.*)*", re.MULTILINE)
OF_OTHERS = re.compile(r"published|paper|theory")
# a row of a table, an item of a list and a paragraph end a sentence, as a full stop does
END = re.compile(r"\n\s*\n|\n(?=\s*(?:\||[-*] |\d+\. ))|(?<=[.?!])\s+(?=[A-Z*`\"(])")
MEASURED = {"answer", "caption", "limits", "ours", "why", "told", "how", "change"}


class Literal(NamedTuple):
    """A number that repeats a recorded one: its place in a text, and the name to bind it by."""

    start: int
    end: int
    name: str


Reader = Callable[[str, str, Records], Iterator[Literal]]


def check(configuration: Path) -> None:
    """Refuse the first such number in a configuration's papers, their pages and the README.

    Args:
        configuration: folder of ``papers``, beside ``docs`` and ``recorded``.

    Raises:
        UserError: with its file and line, and what to write instead.
    """
    root = configuration.parent
    record = bound_numbers.records(root)
    pages = [(root / name, "") for name in ("README.md", "docs/index.md")]
    pages += [(page, page.stem) for page in sorted((root / "docs" / "papers").glob("*.md"))]
    for page, paper in pages:
        if page.exists():
            _refuse(page, of_page, paper, record)
    for folder in sorted((configuration / "papers").iterdir()):
        for file in (folder / models.PAPER, folder / models.CLAIMS):
            if file.exists():
                _refuse(file, of_yaml, folder.name, record)


def _refuse(file: Path, of_file: Reader, paper: str, record: Records) -> None:
    text = file.read_text(encoding="utf-8")
    for literal in of_file(text, paper, record):
        number = " ".join(text[literal.start : literal.end].split())
        line = text.count("\n", 0, literal.start) + 1
        bound = f"{number}<!--{literal.name}-->" if of_file is of_page else f"{{{literal.name}}}"
        problem = f"{number} is a recorded number of {literal.name.partition('.')[0]}"
        raise UserError(f"{file}: line {line}", f"{problem}; write {bound}")


def of_page(text: str, paper: str, record: Records) -> Iterator[Literal]:
    """The literal numbers of a page in Markdown; arguments as in `of_prose`."""
    yield from of_prose(TABLE.sub(_ours, GENERATED.sub(_blank, text)), paper, record)


def _ours(table: re.Match[str]) -> str:
    """A table of a page without its columns of published numbers, or of all but ours."""
    heads = [head.strip() for head in CELL.split(table[0].partition("\n")[0])]
    others = {k for k, head in enumerate(heads) if OF_OTHERS.search(head)}
    if any(head.startswith("ours") for head in heads):
        others = {k for k, head in enumerate(heads) if not head.startswith(("ours", "holds"))}

    def shown(row: str) -> str:
        cells = enumerate(CELL.split(row))
        return "|".join(
            " " * len(cell) if k in others and not CLAIM.search(cell) else cell for k, cell in cells
        )

    return "\n".join(shown(row) for row in table[0].split("\n"))


def of_yaml(text: str, paper: str, record: Records) -> Iterator[Literal]:
    """The literal numbers of `paper.yaml` or `claims.yaml`; arguments as in `of_prose`."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    waiting: list[tuple[yaml.Node, str, tuple[str, ...]]] = [
        (yaml.compose(text, Loader=loader), "", ())
    ]
    while waiting:
        node, key, named = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            entries = {each.value: value for each, value in node.value}
            named = (*named, *_claims_of(entries))
            waiting += [
                (value, key if key in MEASURED else name, named)
                for name, value in reversed(entries.items())
            ]
        elif isinstance(node, yaml.SequenceNode):
            waiting += [(each, key, named) for each in reversed(node.value)]
        elif isinstance(node, yaml.ScalarNode) and key in MEASURED:
            first, last = node.start_mark.index, node.end_mark.index
            for literal in of_prose(text[first:last], paper, record, named):
                yield Literal(first + literal.start, first + literal.end, literal.name)


def _claims_of(entries: dict[str, yaml.Node]) -> list[str]:
    """The claims that a block of YAML is about: its own id, or what is below `claims`."""
    claims = entries.get("claims")
    own = [entries["id"].value] if "id" in entries else []
    if isinstance(claims, yaml.SequenceNode):
        return own + [each.value for each in claims.value if isinstance(each, yaml.ScalarNode)]
    if isinstance(claims, yaml.MappingNode):
        return own + [key.value for key, _ in claims.value]
    return own


def of_prose(
    text: str, paper: str, record: Records, named: tuple[str, ...] = ()
) -> Iterator[Literal]:
    """The literal numbers that repeat a recorded value of a claim that their sentence names.

    Args:
        text: as it stands in its file.
        paper: of claims that are named without one.
        record: the recorded rows by paper and id.
        named: claims that every sentence is about, beside those that it names.
    """
    start = 0
    for stop in [*(match.start() for match in END.finditer(text)), len(text)]:
        sentence = text[start:stop]
        claims = [(match[0], match.start()) for match in CLAIM.finditer(sentence)]
        rows = []
        for claim, at in [*claims, *((each, len(sentence)) for each in named)]:
            owner, _, name = claim.rpartition("/")
            if row := record.get((owner or paper, name)):
                rows.append((at, row))
        for pattern in (IN_COMMENT, IN_BRACES, PUBLISHED) if rows else ():
            sentence = pattern.sub(_blank, sentence)
        for number in NUMBER.finditer(sentence if rows else ""):
            near = sorted(rows, key=lambda row: abs(row[0] - number.start()))
            names = (name for _, row in near if (name := _name(number, row, paper)))
            if name := next(names, ""):
                end = number.end("percent" if name.endswith("%") else "digits")
                yield Literal(start + number.start("digits"), start + end, name)
        start = stop


def _name(number: re.Match[str], row: dict[str, str], paper: str) -> str:
    """The name, with its form, by which a recorded row has a number; empty where it has not."""
    mantissa, exponent, _ = number["digits"].partition("e")
    if len(re.sub("[-.,]", "", mantissa).strip("0")) < 2:
        return ""  # one digit says as much of a setting
    decimals = len(mantissa.partition(".")[2])
    form = f".{decimals}e" if exponent else f"{',' * (',' in mantissa)}.{decimals}f"
    forms = [form, f".{decimals}%"] if number["percent"] else [form]
    where = "" if row["paper"] == paper else f"{row['paper']}/"
    columns = ["value", "lowest", "highest"]
    columns.sort(key=lambda column: column != ("lowest" if number["from"] else "highest"))
    for column in columns if number["from"] or number["to"] else ("value", "lowest", "highest"):
        for text_form in forms if row[column] else ():
            if bound_numbers.shown(float(row[column]), text_form).split()[0] == number["digits"]:
                return f"{where}{row['id']}.{column}:{text_form}"
    return ""


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
