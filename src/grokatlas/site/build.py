"""From figures, claims and their manifests to one folder of pages.

The folder is flat, as its manifest vouches for every file in it, and holds copies of all it shows.
"""

import shutil
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from grokatlas import store

TEMPLATES = Path(__file__).parent / "templates"


def write(spec: dict[str, Any], ages: dict[Path, str], folder: Path) -> list[Path]:
    """Write all pages.

    Args:
        spec: of the atlas's job: scale, and what the papers' YAML say.
        ages: of the figures and the claims: ``current``, ``earlier``, or empty where it is absent.
        folder: where to; what else lies there is removed.

    Returns:
        every file written.
    """
    scale = spec["scale"]
    made = []
    papers = []
    for name, paper in spec["papers"].items():
        figures = []
        for figure, entry in paper["figures"].items():
            stem = store.figure_stem(scale, name, figure)
            files = store.outputs("figure", stem) if ages[stem] else []
            for file in files:
                made.append(folder / f"{name}-{file.name}")
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, made[-1])
            figures.append({"name": figure, "files": [f.name for f in files], **entry})
        papers.append({"name": name, **paper, "figures": figures})
    (table,) = store.outputs("claims", store.claims_stem(scale))
    claims = pd.read_csv(table).to_dict("records")
    loader = jinja2.FileSystemLoader(TEMPLATES)
    pages = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    text = pages.get_template("index.html").render(scale=scale, papers=papers, claims=claims)
    (index,) = store.outputs("atlas", folder)
    with store.atomic(index) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return [*made, index]
