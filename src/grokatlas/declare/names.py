"""The names that `config/papers` declares, found in its text at once: for completion alone."""

import re
from pathlib import Path

from grokatlas import registry
from grokatlas.results import layout

CONFIG = Path("config")
PAPERS = CONFIG / "papers"
CLAIM = re.compile("[A-Z]+[0-9]+[a-z]?")  # ids of claims


def of_kinds(kinds: str) -> list[str]:
    """The names of some kinds: experiments, results (figures and runs), claims, kinds (blocks)."""
    runs = registry.own_files(layout.run_folder(""), "*") if "results" in kinds else []
    names = [run.name for run in runs]
    names += figures(PAPERS) if "results" in kinds else []
    names += experiments(PAPERS) if "experiments" in kinds else []
    names += [claim.partition("/")[2] for claim in claims(PAPERS)] if "claims" in kinds else []
    return sorted({*names, *(registry.FOLDERS if "kinds" in kinds else ())})


def is_paper(name: str) -> bool:
    """Tell if `config/papers` declares a paper of this name."""
    return (PAPERS / name / "paper.yaml").is_file()


def claims(folder: Path) -> list[str]:
    """Every ``paper/id``."""
    return _matches(folder, "claims.yaml", rf"\bid: ({CLAIM.pattern})\b")


def figures(folder: Path) -> list[str]:
    """Every ``paper/figure``."""
    return _matches(folder, "paper.yaml", r"^  (\w+):", r"^figures:\n((?: .*\n|\n)*)")


def experiments(folder: Path) -> list[str]:
    """Every ``paper/experiment``."""
    return _matches(folder, "experiments.yaml", r"^(\w+):")


def _matches(folder: Path, file: str, name: str, within: str = r"\A((?:.|\n)*)\Z") -> list[str]:
    """Matches of a pattern in a file of each paper, within the part that another one matches."""
    matches = []
    for path in registry.own_files(folder, f"*/{file}"):
        part = re.search(within, path.read_text(encoding="utf-8"), re.MULTILINE)
        names = re.findall(name, part[1], re.MULTILINE) if part else []
        matches += [f"{path.parent.name}/{each}" for each in names]
    return matches
