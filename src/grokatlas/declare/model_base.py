"""The base of all models of the YAML."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

# of papers, experiments, cases and figures: they become file names, two of them in one name, with
# endings of 20 and temporary ones of 23 letters; some disks take 143 in all
LONGEST = 50
NAME = f"^[a-z][a-z0-9_]{{0,{LONGEST - 1}}}$"
NAME_RULE = f"use a-z, 0-9 and _, a letter first, at most {LONGEST} in all"
SHA256 = "^[0-9a-f]{64}$"
PATTERNS = {  # what is said of a text that does not match
    NAME: f"is not a name: {NAME_RULE}",
    SHA256: "is no sha256: give 64 digits of 0-9 and a-f, as `sha256sum` prints them",
}
Name = Annotated[str, Field(pattern=NAME)]


class Model(BaseModel):
    """Frozen, and strict: unknown keys and other types are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, serialize_by_alias=True)
