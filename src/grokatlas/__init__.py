"""Grokking Atlas: the figures of five papers on grokking, redrawn from declared experiments."""

from typing import Any

from grokatlas.code import sources as _sources

_sources.install()

from grokatlas import registry as _registry  # noqa: E402  (imported by the loader above)

_registry.let_python_find_studies()

__version__ = "0.2.0"
__all__ = ["figure", "run", "snakefile", "table"]


def __getattr__(name: str) -> Any:
    """The functions that a Snakefile or a notebook calls, imported only then."""
    if name == "snakefile":
        from grokatlas.study.shipped import snakefile

        return snakefile
    if name in __all__:
        from grokatlas.study import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
