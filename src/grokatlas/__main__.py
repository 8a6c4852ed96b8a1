"""``python -m grokatlas``: what the rules call."""

import gc
import os
import sys

code = None
try:
    if os.environ.get("GROKATLAS_WARM"):
        from grokatlas.rules.jobs import fork_client

        code = fork_client.run(sys.argv[1:])
    if code is None:
        from grokatlas.cli import main

        code = main()
except KeyboardInterrupt:  # before a command runs, while Python imports
    print("interrupted", file=sys.stderr)
    code = 130
gc.freeze()  # Python's last search for garbage takes a second once torch is loaded
sys.exit(code)
