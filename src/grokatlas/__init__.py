"""Grokking Atlas: the figures of five papers on grokking, redrawn from declared experiments."""

from typing import TYPE_CHECKING

from grokatlas.code import sources as _sources

_sources.install()

from grokatlas import registry as _registry  # noqa: E402  (imported by the loader above)

_registry.let_python_find_studies()

__version__ = "0.2.0"
__all__ = ["figure", "recorded", "run", "snakefile", "table", "tables"]

if TYPE_CHECKING:
    from grokatlas.study.notebook import figure, recorded, run, table, tables
    from grokatlas.study.shipped import snakefile
else:

    def __getattr__(name: str) -> object:
        """The functions that a Snakefile or a notebook calls, imported only then."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from grokatlas.study import notebook, shipped

        return getattr(shipped if name == "snakefile" else notebook, name)


def __dir__() -> list[str]:
    """The names to call, for completion."""
    return [*__all__, "__version__"]
