"""The parameters themselves, for toys of a few weights."""

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.observed import Observed

COLUMNS = {"parameters.*": None}


def build() -> Observable:
    """Columns ``parameters.<name>.<k>``: entry k of each parameter, flattened row by row."""

    def observe(view: Observed) -> Columns:
        return {f"parameters.{name}": value for name, value in view.params.items()}

    return observe
