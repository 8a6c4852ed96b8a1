"""Do what a page of the documentation tells a reader to do, as the page itself says it.

Fenced blocks of a page are steps, in their order:

* ``sh``: commands, which must succeed; ``sh fails``: they must not. ``sh cluster`` and ``sh once``
  need what is not here (a cluster, an installation), and are left out.
* ``text`` after it: some lines of what these commands say, in their order, with any number of
  blanks. ``...`` stands for anything.
* any other language after a line that ends with a path and a colon: the file of that path. With
  the words *at the end of* before the path, what is added to it; of ``diff``, lines with ``-`` and
  a blank, which stand there once, become the lines with ``+`` and a blank.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"`(?P<path>[\w./-]+)`:$")
LEFT_OUT = ("sh cluster", "sh once")


class Block(NamedTuple):
    """A fenced block, with the line of the page that it begins at and the text before it."""

    info: str
    body: str
    line: int
    before: str


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page."""
    parts = []
    for match in FENCE.finditer(text):
        paragraph = text[: match.start()].strip().rpartition("\n\n")[2]
        line = text.count("\n", 0, match.start()) + 1
        parts.append(Block(match["info"], match["body"], line, " ".join(paragraph.split())))
    return parts


class Reader:
    """Someone in a checkout who does what pages say.

    Args:
        folder: the checkout.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said = ""

    def follow(self, page: Path) -> None:
        """Do every step of a page; an assertion names the step that went wrong."""
        start = self.folder
        for block in blocks(page.read_text(encoding="utf-8")):
            place = f"{page.name}:{block.line}"
            if block.info in ("sh", "sh fails"):
                self._run(block, place)
            elif block.info == "text":
                self._compare(block, place)
            elif block.info not in LEFT_OUT:
                self._write(block, place)
        self.folder = start

    def _run(self, block: Block, place: str) -> None:
        variables = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "COLUMNS")}
        variables |= {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{variables['PATH']}",
            "SNAKEMAKE_PROFILE": "profiles/workstation",
            **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "ada@localhost" for who in ("AUTHOR", "COMMITTER")},
        }
        script = f"set -euo pipefail\ntrap 'pwd >&3' EXIT\n{block.body}"
        reading, writing = os.pipe()
        with os.fdopen(reading) as where:
            done = subprocess.run(
                ["bash", "-c", script.replace(">&3", f">&{writing}")],
                cwd=self.folder,
                env=variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                pass_fds=[writing],
            )
            os.close(writing)
            self.folder = Path(where.readline().rstrip("\n"))  # a step may go to another folder
        self.said = done.stdout
        told = f"{place}: exit code {done.returncode}\n{block.body}\n{done.stdout}"
        assert (done.returncode != 0) == (block.info == "sh fails"), told

    def _compare(self, block: Block, place: str) -> None:
        rest = self.said
        for line in block.body.splitlines():
            words = [map(re.escape, part.split()) for part in line.split("...")]
            pattern = ".*".join(map(r"[ ]+".join, words))
            match = re.search(rf"^ *{pattern} *$", rest, re.MULTILINE)
            assert match, f"{place}: nothing says {line!r} where it should be in\n{self.said}"
            rest = rest[match.end() :]

    def _write(self, block: Block, place: str) -> None:
        named = PATH.search(block.before)
        assert named, f"{place}: no path before a block of {block.info}"
        file = self.folder / named["path"]
        if block.info == "diff":
            text = file.read_text(encoding="utf-8")
            old, new = (_side(block.body, sign) for sign in "-+")
            assert text.count(old) == 1, f"{place}: {text.count(old)} times in {file}:\n{old}"
            file.write_text(text.replace(old, new), encoding="utf-8")
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        added = "at the end of `" in block.before
        text = file.read_text(encoding="utf-8") if added else ""
        file.write_text(text + block.body, encoding="utf-8")


def _side(body: str, sign: str) -> str:
    """The lines of a diff that are there before it (``-``) or after it (``+``)."""
    return "".join(f"{line[2:]}\n" for line in body.splitlines() if line[:1] in (" ", sign))
