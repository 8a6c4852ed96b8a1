"""Compiled loops that the runs of one Snakemake share.

numba compiles the loops of a dynamics at their first call, for half a second of every short run. A
warm process (`warm`) names a folder that ends with it. There the first run that needs a loop keeps
it for the others: by the digest of its code, so that no other code's loop is ever taken.
"""

import os
import sys
from pathlib import Path

from grokatlas.code import code_digest
from grokatlas.results import hashing

VARIABLE = "GROKATLAS_COMPILED"  # the folder; `warm` has the same name, as it imports nothing


def share(code: dict[str, str]) -> None:
    """Take the loops of the components that are loaded from the folder, or keep them there.

    Args:
        code: of the job, by module.
    """
    folder, numba = os.environ.get(VARIABLE), sys.modules.get("numba")
    if not folder or numba is None:
        return
    digest = hashing.of(code_digest.values(code))[:16]
    numba.config.CACHE_DIR = str(Path(folder) / digest)
    for name, module in [*sys.modules.items()]:
        if name.startswith("grokatlas.components."):
            for loop in vars(module).values():
                if isinstance(loop, numba.core.dispatcher.Dispatcher):
                    loop.enable_caching()
