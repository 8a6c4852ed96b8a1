"""The types a component's keyword may be annotated with, and what each allows.

A component annotates the keywords of its ``build`` with these names, with ``int``, ``float``,
``bool``, ``str``, ``Literal[...]``, or with a union of them and ``None``. `declare.signatures`
reads the annotations from the source (no import), and the YAML is checked against them; at run time
they are plain Python types, so a bare node needs no validation library.
"""

Positive = float  # > 0, finite
NonNegative = float  # >= 0, finite
Fraction = float  # 0 < x < 1
Unit = float  # 0 <= x <= 1
Decay = float  # 0 <= x < 1
Count = int  # >= 1
Whole = int  # >= 0
Vector = list[float]  # one or more finite numbers
Counts = list[int]  # one or more whole numbers >= 1
Column = str  # a column of the run's history
Seed = int | str  # a whole number, or "member": the seed of each member
