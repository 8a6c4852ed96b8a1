"""A results tree of five jobs, made without training: one of each kind, with true digests."""

from pathlib import Path

from grokatlas.results import files, hashing, layout
from grokatlas.results.manifest import code_of

COMMIT = "c0ffee" * 6 + "abcd"
HOST = "login7.cluster.example"
MEASURE = {"name": "sharpness", "samples": 7}


def make(scale: str = "smoke") -> dict[str, Path]:
    """Write the tree below the working directory; the target of every kind."""
    data = _job("dataset", layout.data_folder, {"tasks": [{"name": "toy", "seed": 0}]})
    run = _job("run", layout.run_folder, {"task": {"name": "toy"}, "optimizer": {"lr": 0.1}}, data)
    name = layout.measure_id(MEASURE)
    measure = _write(
        "measure", layout.measure_stem(run.name, name), {"measure": MEASURE}, run, data
    )
    cell = {"case": "", "run": run.name, "measures": [name]}
    spec = {"experiment": "toys", "paper": "atlas", "scale": scale, "cells": [cell]}
    table = _write("table", layout.table_stem(scale, "atlas", "toys"), spec, run, measure)
    spec = {"figure": "fig1", "paper": "atlas", "scale": scale, "experiments": ["toys"]}
    figure = _write("figure", layout.figure_stem(scale, "atlas", "fig1"), spec, table)
    return {"dataset": data, "run": run, "measure": measure, "table": table, "figure": figure}


def _job(kind, folder, spec, *upstream) -> Path:
    return _write(kind, folder(hashing.of(spec)[:12]), spec, *upstream)


def _write(kind: str, target: Path, spec: dict, *upstream: Path) -> Path:
    inputs = {}
    for other in upstream:
        manifest = files.read_json(_manifest(other))
        folder = _manifest(other).parent
        inputs |= {str(folder / name): sha for name, sha in manifest["outputs"].items()}
    outputs = layout.outputs(kind, target)
    for file in outputs:
        with files.atomic(file) as temporary:
            temporary.write_bytes(f"{kind} {file.name} {hashing.of(spec)}".encode() * 50)
    code = {"grokatlas.toy": hashing.of(kind)}
    job = {"kind": kind, "spec": spec, "code": code}
    job["digest"] = hashing.of_job(kind, spec, code, map(digests, upstream)).today
    write(layout.spec_path(kind, target), {**job, "inputs": [str(other) for other in upstream]})
    facts = {
        "inputs": inputs,
        "outputs": {file.name: hashing.file_sha256(file) for file in outputs},
        "git": {"commit": COMMIT, "dirty": kind == "figure"},
        "versions": {"python": "3.12.1", "grokatlas": "0.1.0", "snakemake": "9.27.1"},
        "host": {"name": HOST, "system": "Linux 5.4 x86_64", "cpu": "Toy CPU", "cores": 2},
        "started": "2026-11-20T10:00:00Z",
        "wall_seconds": 61.5,
    }
    write(layout.manifest_of(kind, target), {**job, **facts})
    return target


def digests(target: Path) -> hashing.Digests:
    """The digests of a result that is here, in both forms."""
    manifest = files.read_json(_manifest(target))
    upstream = files.read_json(layout.spec_path(manifest["kind"], target))["inputs"]
    made_from = [digests(Path(each)) for each in upstream]
    return hashing.of_job(manifest["kind"], manifest["spec"], code_of(manifest), made_from)


def write(path: Path, content: dict) -> None:
    """Write a job file or manifest as jobs do, whatever it says."""
    files.write_json(path, files.sealed(content))


def edit(path: Path, **changes) -> None:
    """Change keys of a job file or manifest, and seal it again."""
    write(path, {**files.read_json(path), **changes})


def _manifest(target: Path) -> Path:
    folder = target / "manifest.json"
    return folder if folder.exists() else layout.beside(target, ".manifest.json")
