"""``grokatlas components``: what a block of an experiment may name, with its keywords."""

from collections.abc import Iterator

from grokatlas import registry
from grokatlas.declare import signatures
from grokatlas.declare.checked_types import annotation_type, phrase
from grokatlas.errors import UserError, nearest


def main(kind: str | None) -> Iterator[str]:
    """The components of a kind, those of the study included, with their keywords and types.

    Args:
        kind: a block such as ``penalties``, or its folder; None for all kinds.

    Raises:
        UserError: there is no such kind.
    """
    blocks = {folder: block for block, folder in registry.FOLDERS.items()}
    block = blocks.get(kind or "", kind)
    if block is not None and block not in registry.FOLDERS:
        raise UserError(f"components {kind}", f"no such kind; {nearest(block, [*blocks.values()])}")
    for each in [block] if block else registry.FOLDERS:
        yield f"{each}{', each entry' * (each in registry.LISTS)}:"
        for name in registry.names(each):
            yield f"  {name}: {signatures.signature(each, name).summary}"
            yield from _keywords(each, name)
        yield ""
    yield "`KEY: {name: NAME, KEYWORD: VALUE}` in experiments.yaml; no keyword has a default"


def _keywords(block: str, name: str) -> Iterator[str]:
    signature = signatures.signature(block, name)
    for keyword, annotation in signature.keywords.items():
        meaning = signature.meanings.get(keyword, "").removesuffix(".")
        words = phrase(annotation_type(annotation), ())
        yield f"    {keyword}: {words}{f'; {meaning}' * bool(meaning)}"
