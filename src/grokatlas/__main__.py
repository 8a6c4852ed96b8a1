"""``python -m grokatlas``: what the rules call."""

import sys

from grokatlas.cli import main

sys.exit(main())
