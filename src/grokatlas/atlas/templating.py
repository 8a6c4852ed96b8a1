"""The templates of every page: of the atlas, and of a lineage."""

from pathlib import Path

import jinja2

from grokatlas import text as words

HERE = Path(__file__).parent


def environment() -> jinja2.Environment:
    """The templates and the style, with the filters that all of them use."""
    pages = jinja2.Environment(
        loader=jinja2.FileSystemLoader([HERE / "templates", HERE / "static"]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = ("slug", "plain", "sentence", "first_sentence")
    pages.filters |= {name: getattr(words, name) for name in names}
    pages.filters["counted"] = words.count
    return pages
