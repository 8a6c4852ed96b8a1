"""Questions to Slurm's own programs."""

import subprocess

from grokatlas.errors import UserError

PATIENCE = 60.0  # seconds


def ask(*command: str, patience: float = PATIENCE) -> str:
    """What a program of Slurm prints.

    Raises:
        UserError: it is not installed, fails, or says nothing for `patience` seconds.
    """
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=patience
        )
    except FileNotFoundError:
        raise UserError(command[0], "is not installed here") from None
    except subprocess.TimeoutExpired:
        problem = f"no answer within {patience:.0f} s; try again when Slurm answers"
        raise UserError(command[0], problem) from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["fails without an error message"])[-1]
        problem = last.removeprefix(f"{command[0]}: ")
        raise UserError(command[0], f"{problem}; try again when Slurm answers")
    return done.stdout
