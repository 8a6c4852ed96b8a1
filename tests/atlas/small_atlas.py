"""An atlas of two small papers below the working directory, made without training anything."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import image

from grokatlas.atlas import build
from grokatlas.claims import interpretations, judging, verdicts
from grokatlas.plan.jobs import Job
from grokatlas.results import files, hashing, layout
from tests.unit import audit_tree

SCALE = "smoke"
NASTY = "</script><img src=x onerror=alert(1)> & \"quoted\" 'too' {{ 7 * 7 }}"
SERIES = f"<b>{NASTY[:50]}"
ERROR = f"figure toy/fig3: cannot be drawn: KeyError {NASTY}"
TABLE = "| method | ours |\n|:---|---:|\n| a \\| b | x2.1 ± 0.3 |\n\na note | no cell\n"
FIGURES = {"toy": ("fig1", "fig2", "fig3", "table1"), "other": ("depth",)}


def make() -> Path:
    """Write results and pages: `fig1` current, `fig2` by earlier code, `fig3` failed."""
    jobs = audit_tree.declared()
    drawn = {job.target.name: job for job in jobs.values() if job.kind == "figure"}
    table = _named(drawn["fig1"], "table1")
    audit_tree.build(jobs)
    audit_tree.make(table)
    for job in (*drawn.values(), table):
        _fill(job)
    layout.beside(layout.figure_stem(SCALE, "toy", "fig3"), ".log").write_text(
        f"Traceback\n{ERROR}\n\n", encoding="utf-8"
    )
    judge()
    return pages()


def pages(**ages: str) -> Path:
    """Write the pages; `ages` of toy's figures, as the default has it unless given."""
    ages = {"fig1": "current", "fig2": "earlier", "fig3": "", "table1": "current", **ages}
    told = {layout.figure_stem(SCALE, "toy", name): age for name, age in ages.items()}
    told[layout.figure_stem(SCALE, "other", "depth")] = ""
    told[layout.claims_stem(SCALE)] = "current"
    folder = layout.atlas_folder(SCALE)
    made = build.write(spec(), told, folder)
    files.write_json(folder / "manifest.json", {"outputs": [file.name for file in made]})
    return folder


def spec() -> dict[str, Any]:
    """What the atlas's job file says."""
    task = {"here": ["digits"], "published": ["mnist"]}
    papers = {}
    for name, figures in FIGURES.items():
        source = {"title": f"On {name} {NASTY}", "arxiv": "2501.00001", "authors": None}
        source["code"] = "someone/code"
        named = {"interpretations": ["rough"] if name == "toy" else []}
        deviation = {"where": NASTY, "paper": "not stated", "ours": "0.1", "why": "it converges"}
        entry = {"experiments": ["rates"], "caption": f"What it shows. Then {NASTY}"}
        plate = {"question": f"Is it so? {NASTY}", "prediction": "It is.", "answer": None}
        plate |= {"limits": "Nothing else."}
        papers[name] = {
            "source": source,
            "deviations": [deviation | {"code": None, "claims": ["T1", "T4"]} | named],
            "figures": {
                figure: entry
                | {"sizes": {"task.name": task}, "plate": plate if figure == "fig2" else None}
                for figure in figures
            },
        }
    papers["toy"]["why"] = {name: {"refuted": f"it is slow {NASTY}"} for name in ("T1", "T3")}
    finding = {"title": f"It is quick {NASTY}.", "told": "In 10 steps.", "how": "We looked."}
    finding |= {"figure": "fig1", "change": NASTY, "claims": {"toy/T1": "reproduced"}}
    papers["toy"]["findings"] = [finding | {"number": number} for number in (4, 2, 3, 1)]
    papers["toy"]["interpretations"] = {
        "rough": {"about": f"a rough step {NASTY}", "choices": ["step size", "length"]},
        "fine": {"about": "a fine step", "choices": ["step size"]},
    }
    return {"scale": SCALE, "papers": papers, "parts": {}, "studies": {"own": _study()}}


def _study() -> dict[str, Any]:
    """What a study recorded: one figure and one claim."""
    picture = Path("study.png")
    image.imsave(picture, np.linspace(0, 1, 800).reshape(20, 40))
    figure = {"figure": "fig1", "title": f"A study {NASTY}", "caption": NASTY, "scale": "quick"}
    figure |= {"picture": str(picture), "runs": "2", "machine": "a CPU", "commit": "c0ffee"}
    row = {"id": "S1", "paper": "own", "figure": "fig1", "statement": "it is quick in a study"}
    row |= {"place": "text", "source": "text", "published": "12", "unit": "steps", "why": None}
    row |= {"verdict": verdicts.SEEN, "reason": "1 of 1 in the interval", "value": "12"}
    row |= {"expected_low": "10", "expected_high": "", "lowest": "12", "highest": "12"}
    source = {"title": "Of others", "arxiv": None, "authors": NASTY, "code": "someone/else"}
    claims = [row | {"count": "1", "scale": "quick"}]
    figure |= {"quick_note": "Smaller.", "imported": "", "so_far": ""}
    figures = [figure | {"made": "2026-11-28"}]
    return {"source": source, "folder": "studies/own", "figures": figures, "claims": claims}


def judge() -> None:
    """Write the claims: one of each verdict."""
    given = [("T1", "fig1", [9.0, 11.0]), ("T2", "fig1", [9.0, 30.0]), ("T3", "fig2", [50.0])]
    rows = []
    for name, figure, values in given:
        verdict, reason = verdicts.judge(values, [5, 20], "each", len(values))
        row = {"id": name, "paper": "toy", "verdict": verdict, "reason": reason, "figure": figure}
        row |= {"statement": f"it is quick {NASTY}", "place": "text", "source": "text"}
        row |= {"published": "about 10 steps", "unit": "steps", "code": "current"}
        row |= {"expected_low": 5, "expected_high": 20, "count": len(values)}
        middle = verdicts.middle(values, "each")
        rows.append(row | {"value": middle, "lowest": min(values), "highest": max(values)})
    missing = {"id": "T4", "verdict": verdicts.NOT_RUN, "figure": "fig3", "reason": "not made"}
    missing |= dict.fromkeys(("value", "lowest", "highest"), np.nan) | {"count": 0, "code": ""}
    rows.append(rows[0] | missing)
    made = layout.outputs("claims", layout.claims_stem(SCALE))
    files.write_csv(made[0], judging.frame(rows))
    files.write_csv(made[1], interpretations.frame(under_interpretations()))
    content = {"kind": "claims", "digest": "0", "spec": {}, "code": {}, "inputs": {}}
    content["outputs"] = {file.name: hashing.file_sha256(file) for file in made}
    path = layout.manifest_of("claims", layout.claims_stem(SCALE))
    files.write_json(path, files.sealed(content))


def under_interpretations() -> list[dict[str, Any]]:
    """Claims of `toy` under its interpretations `rough` and `fine`: a row of each state."""
    judged = {"state": "judged", "value": 12.0, "lowest": 8.0, "highest": 16.0, "count": 2}
    absent = {"state": "absent", "verdict": verdicts.NOT_RUN, "reason": "its tables are not made"}
    undefined = {"state": "undefined", "verdict": verdicts.NOT_RUN}
    scale = {"state": "other scale", "verdict": verdicts.NOT_RUN, "reason": "judged at paper scale"}
    rows = [
        {
            "id": "T1",
            "interpretation": "rough",
            "verdict": "interpretation rejected",
            "reason": f"why {NASTY}",
        }
        | judged,
        {"id": "T1", "interpretation": "fine", "forecast_seconds": 7200.0} | absent,
        {"id": "T2", "interpretation": "rough", "reason": "it compares both interpretations"}
        | undefined,
        {"id": "T3", "interpretation": "rough", "verdict": "not reproduced", "reason": "0 of 2"}
        | judged,
        {"id": "T4", "interpretation": "fine"} | scale,
    ]
    rows[3]["same_as"] = "T2"
    return [{"count": 0, "same_as": "", "paper": "toy"} | row for row in rows]


def curves() -> pd.DataFrame:
    """Four seeds of two series over sixty steps; the name of one series is nasty."""
    rows = [
        {"series": series, "seed": seed, "step": step, "train_loss": 1 / (step + 1 + seed)}
        for series in ("plain", SERIES)
        for seed in range(4)
        for step in range(60)
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(test_loss=frame["train_loss"] * 10)


def _named(job: Job, figure: str) -> Job:
    target = layout.figure_stem(SCALE, "toy", figure)
    return replace(job, target=target, spec=job.spec | {"figure": figure})


def _fill(job: Job) -> None:
    """Put something to look at into a figure's files, and vouch for it."""
    for file in job.outputs:
        if file.suffix == ".png":
            image.imsave(file, np.linspace(0, 1, 800).reshape(20, 40))
        elif file.suffix == ".md":
            file.write_text(TABLE, encoding="utf-8")
        elif file.suffix == ".csv" and job.target.name == "fig1":
            curves().to_csv(file, index=False)
    outputs = {file.name: hashing.file_sha256(file) for file in job.outputs}
    audit_tree.edited(job.manifest, seal=True, outputs=outputs)
