"""A small results tree with every kind of artefact, made without training anything."""

import io
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from safetensors.numpy import save_file

from grokatlas.plan.jobs import Job
from grokatlas.results import files, hashing, layout

MEASURE = {"name": "fourier_features", "parameter": "layers.0.weight"}
LIGHT = {"name": "reached_steps", "column": "train_loss", "levels": [0.5]}
TITLE = "Grokking Atlas toy/fig1 (smoke scale)"
GIT = {"commit": "c" * 40, "dirty": False}


def spec_of(lr: float) -> dict:
    return {
        "dynamics": {"name": "gradient_training"},
        "ensemble": {"seed": [0, 1, 2]},
        "optimizer": {"name": "gd", "lr": lr},
        "task": {"name": "linear_regression", "seed": 0},
        "train": {"steps": 10, "snapshots": [10]},
    }


def run_folder(lr: float) -> Path:
    """The folder of the run of a learning rate."""
    return layout.run_folder(hashing.of(spec_of(lr))[:12])


def declared(
    lrs: tuple[float, ...] = (0.1, 0.2),
    run_code: str = "1",
    measure_code: str = "1",
    figure_code: str = "1",
    data_code: str = "1",
    light: bool = False,
) -> dict[str, Job]:
    """The jobs of one table with a run for each learning rate, and two figures of it.

    With `light`, the table measures ``ratio`` itself.
    """
    data_spec = {"tasks": [{"name": "linear_regression", "seed": 0}]}
    folder = layout.data_folder(hashing.of(data_spec)[:12])
    data = Job("dataset", folder, data_spec, {"grokatlas.engine.dataset": data_code})
    jobs, made = [data], []
    for lr in lrs:
        spec = spec_of(lr)
        target = layout.run_folder(hashing.of(spec)[:12])
        run = Job("run", target, spec, {"grokatlas.engine.training": run_code}, (data,))
        stem = layout.measure_stem(run.target.name, layout.measure_id(MEASURE))
        code = {"grokatlas.components.measures.fourier_features": measure_code}
        measure = Job("measure", stem, {"measure": MEASURE}, code, (run, data))
        jobs += [run, measure]
        made += [run, measure]
    own = {"light": [LIGHT]} if light else {}
    rows = [{"case": f"lr={lr}", "run": made[2 * k].target.name} | own for k, lr in enumerate(lrs)]
    spec = {"experiment": "rates", "paper": "toy", "scale": "smoke", "cells": rows}
    stem = layout.table_stem("smoke", "toy", "rates")
    table = Job("table", stem, spec, {"grokatlas.rules.tidy_table": "1"}, tuple(made))
    jobs.append(table)
    for name in ("fig1", "fig2"):
        spec = {"figure": name, "paper": "toy", "scale": "smoke", "experiments": ["rates"]}
        code = {f"grokatlas.papers.toy.{name}": figure_code, "grokatlas.rules.rendering": "1"}
        stem = layout.figure_stem("smoke", "toy", name)
        jobs.append(Job("figure", stem, spec, code, (table,)))
    return {job.target.as_posix(): job for job in jobs}


def build(jobs: dict[str, Job], number: float = 0.0) -> None:
    """Make every job's files below ``results/`` of the working directory, upstream first."""
    for job in jobs.values():
        make(job, number)


def make(job: Job, number: float = 0.0) -> None:
    """One job's files, which depend on its spec and a number, with job file and manifest."""
    job.spec_path.parent.mkdir(parents=True, exist_ok=True)
    files.write_json(job.spec_path, files.sealed(job.content))
    value = number + int(hashing.of([job.spec, str(job.target)])[:6], 16)
    for file in job.outputs:
        _write(file, value, job)
    read = [file for upstream in job.inputs for file in upstream.outputs]
    content = {
        "kind": job.kind,
        "digest": job.digest,
        "spec": job.spec,
        "code": job.code,
        "inputs": {str(file): hashing.file_sha256(file) for file in read},
        "outputs": {file.name: hashing.file_sha256(file) for file in job.outputs},
        "git": GIT,
        "versions": {"torch": "2.0"},
        "host": {"name": "node1", "cpu": "a CPU"},
        "started": "2026-01-01T00:00:00Z",
        "wall_seconds": 1.5,
    }
    if job.kind == "run":
        content["device"] = {"type": "cuda", "name": "H200", "uuid": "GPU-1", "driver": "550"}
        content["train_seconds"] = 12.5
        content["segments"] = [
            {"start_step": 0, "end_step": 6, "host": "node1", "job": "17"},
            {"start_step": 6, "end_step": 10, "host": "node2", "job": "18"},
        ]
    files.write_json(job.manifest, files.sealed(content))


def edited(path: Path, seal: bool = False, **changes) -> None:
    """Change keys of a manifest or job file as a forger would, with or without a new seal."""
    content = files.read_json(path) | changes
    files.write_json(path, files.sealed(content) if seal else content)


def recoded(job: Job, **code: str) -> Job:
    return replace(job, code={**job.code, **code})


def _write(file: Path, value: float, job: Job) -> None:
    if file.suffix == ".safetensors":
        save_file({"10/weight": np.full((3, 2), value)}, file)
    elif file.suffix == ".parquet":
        frame = pd.DataFrame({"member": [0, 1, 2], "step": 10, "train_loss": value})
        if job.kind == "table":
            measured = pd.DataFrame({"record": [LIGHT["name"]], "member": 0, "ratio": 0.5})
            frame = pd.concat([frame.assign(record="history"), measured])
        frame.to_parquet(file, index=False)
    elif file.suffix == ".csv":
        file.write_text(f"step,train_loss,ratio\n10,{value},0.5\n")
    elif file.suffix == ".png":
        file.write_bytes(png(origin(job)))
    else:
        file.write_bytes(pdf(origin(job)))


def origin(job: Job) -> str:
    return f"digest {job.digest}; commit {GIT['commit']}; runs 0123456789ab"


def png(text: str) -> bytes:
    """A png with text chunks, as matplotlib writes them."""
    chunks = PngInfo()
    for key, value in (("Title", TITLE), ("Description", text)):
        chunks.add_text(key, value)
    return _saved("PNG", pnginfo=chunks)


def pdf(text: str) -> bytes:
    """A pdf with an information dictionary, as matplotlib writes it."""
    then = time.gmtime(0)
    return _saved("PDF", title=TITLE, subject=text, creationDate=then, modDate=then)


def _saved(kind: str, **metadata) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (1, 1)).save(out, kind, **metadata)
    return out.getvalue()
