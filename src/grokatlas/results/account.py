"""The name of the account that this process runs under."""

import getpass
import os


def name() -> str:
    """The login name; the number of an account without one, as in a container."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def tell_programs() -> None:
    """Let this process and those that it starts know the name; Snakemake ends without one."""
    os.environ["USER"] = os.environ.get("USER") or name()
