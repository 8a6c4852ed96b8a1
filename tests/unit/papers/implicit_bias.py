"""Tables of hypentropy for claims of `two_timescales`."""

from tests.tables import rows

PAPER = "two_timescales"


def fast_phase(away=0.02, sparse=0.5, later=0.01):
    """Figure 4's network to t = 1000: how far from both interpolators, with three weights."""
    return rows(
        "hypentropy_path",
        case="fast",
        seed=[0, 1, 2],
        optimizer__lr=0.05,
        penalties__0__weight=[0, 5e-5, 5e-3],
        step=[20, 2000, 20_000],
        distance=lambda row: {
            (5e-5, 2000): away,
            (0, 20_000): later,
        }.get((row["penalties.0.weight"], row["step"]), 0.9),
        distance_l1=sparse,
    )
