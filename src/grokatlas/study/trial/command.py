"""``grokatlas try``: declare a trial, run it, and say where its figure is."""

import signal
import subprocess
import sys
from pathlib import Path

from grokatlas.declare import settings
from grokatlas.declare.names import PAPERS
from grokatlas.errors import UserError
from grokatlas.results import layout
from grokatlas.study.trial import declaration


def main(name: str, given: list[str], scale: str | None) -> int:
    """Try values of an experiment.

    Returns:
        0, or the exit code of Snakemake.
    """
    if not PAPERS.is_dir():
        raise UserError(str(Path.cwd()), "is no checkout or study (no config/papers); go to one")
    tried = declaration.values(given)
    if scale is None:
        scale = settings.load_settings(declaration.SETTINGS, {}).scale
    stem = layout.figure_stem(scale, declaration.PAPER_OF_TRIALS, declaration.FIGURE)
    figure = layout.outputs("figure", stem)
    with declaration.declared(name, tried, scale) as folder:
        command = [sys.executable, "-m", "snakemake"]
        command += ["--snakefile", str(folder / "workflow" / "Snakefile")]
        command += ["--directory", str(folder), "--cores", "all", "--", figure[0].as_posix()]
        code = followed(command)
    if code == 0:
        print("\n".join(str(folder / file) for file in figure))
    return code


def followed(command: list[str]) -> int:
    """Run a command until it ends; its exit code, which is 128 and more if a signal ended it.

    Ctrl-C reaches it from the terminal and SIGTERM is passed on, and it has the time that it needs
    to end its jobs: `subprocess.run` would kill it after a quarter of a second.
    """
    with subprocess.Popen(command) as running:
        answers = {
            signal.SIGINT: lambda *_: None,
            signal.SIGTERM: lambda number, _: running.send_signal(number),
        }
        before = {number: signal.signal(number, answer) for number, answer in answers.items()}
        try:
            code = running.wait()
        finally:
            for number, answer in before.items():
                signal.signal(number, answer)
    return code if code >= 0 else 128 - code
