"""``python -m grokatlas``: what the rules call."""

import gc
import sys

from grokatlas.cli import main

code = main()
gc.freeze()  # Python's last search for garbage takes a second once torch is loaded
sys.exit(code)
