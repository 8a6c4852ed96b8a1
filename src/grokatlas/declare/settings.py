"""The settings of `config/config.yaml`."""

import os
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from grokatlas.declare import strict_yaml
from grokatlas.declare.model_base import Model
from grokatlas.declare.validation import check_block
from grokatlas.errors import MistakeError, UserError


class Settings(Model):
    """`config/config.yaml`: what a user changes between two runs."""

    GONE: ClassVar = {
        "notify": "to get mail, add a line to `onerror` of the Snakefile, or give `--mail-type` to "
        "sbatch (docs/cluster.md)",
        "results": "to have results on another disk, `ln -s FOLDER results` (docs/cluster.md)",
    }

    scale: Literal["smoke", "quick", "paper"] = Field("quick", description="size of every run")
    papers: Literal["all"] | Annotated[list[str], Field(min_length=1)] = Field(
        "all", description="papers to redraw, or all"
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="auto takes a GPU where there is one"
    )
    data_dir: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="folder with image files, looked at before they are fetched; null: where the "
        "environment variable GROKATLAS_DATA points, if it is set",
    )
    run_store: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="folder of finished runs, shared between checkouts and users, looked up before "
        "anything is trained (docs/run-store.md); null: where the environment variable "
        "GROKATLAS_RUN_STORE points, if it is set",
    )
    container: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="image in which jobs run under `--sdm apptainer`: a file, or an address such "
        "as docker://... (docs/cluster.md); null: the one that the environment variable "
        "GROKATLAS_CONTAINER names, if it is set",
    )
    local_rules: list[Literal["table", "figure", "claims", "atlas"]] = Field(
        ["table", "figure", "claims", "atlas"],
        description="rules whose jobs run beside Snakemake on a cluster too; those of others are "
        "submitted",
    )


def load_settings(
    path: Path, overrides: dict[str, Any], sources: dict[str, str] | None = None
) -> Settings:
    """`config.yaml` with the keys that the command line overrides.

    `sources` says where each of them is set, for errors.
    """
    data = strict_yaml.load(path, path.name)
    if not isinstance(data, dict):
        raise UserError(path.name, "must be a block of keys such as `scale: quick`")
    try:
        settings: Settings = check_block(Settings, {**data, **overrides})
    except MistakeError as mistake:
        known = dict.fromkeys(overrides, "--config") | (sources or {})
        raise mistake.at(known.get(mistake.path[0], path.name)) from None
    return settings


def home_expanded(folder: str) -> Path:
    """A folder of the settings with its ``~`` expanded; that of an unknown user is unchanged."""
    return Path(os.path.expanduser(folder))  # noqa: PTH111 (that of Path raises then)
