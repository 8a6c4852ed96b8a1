"""What all models of the YAML share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

NAME = "^[a-z][a-z0-9_]*$"  # of papers, experiments, cases and figures: they become file names
Name = Annotated[str, Field(pattern=NAME)]


class Model(BaseModel):
    """Frozen, and strict: unknown keys and other types are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, serialize_by_alias=True)
