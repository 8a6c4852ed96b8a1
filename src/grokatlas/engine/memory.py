"""Memory of a run on a GPU, and how many of its members move together there; numbers alone.

The members' parameters and states stay on the GPU, whether they move together or in groups; what a
step or a look needs besides is given back before the next group moves. `tests/unit/plan` compares
the forecast with measured peaks.
"""

from dataclasses import dataclass

COPIES = 3.5  # of parameters in a step: gradients, those of a penalty, and what changes them
PASSES = 1.75  # of what a forward pass writes: most of it is kept for the gradient
LOOKS = 1.25  # of the same on all samples, which is observed
NOISE = 3  # of a step's noise: as it is drawn, a mask or its multiple, and what it acts on
USED = 0.9  # of a GPU's memory that a run may fill: the rest is for libraries and gaps


@dataclass(frozen=True)
class Needs:
    """The memory of a run, in bytes where nothing else is said.

    Attributes:
        members: their number.
        parameters: of one member.
        kept: how many copies of its parameters a member's state holds besides them.
        batch: that a forward pass of one member on a batch writes.
        looks: the same on all samples, of training and test.
        data: of all members.
        noise: of a step of one member, that models, optimizers and changes of gradients take.
        stops: whether members may stop, whose last parameters are kept.
    """

    members: int
    parameters: int
    kept: float
    batch: int
    looks: int
    data: int
    noise: int = 0
    stops: bool = False

    def bytes(self, group: int) -> int:
        """The peak, where so many members move together."""
        initial = 1 + self.stops  # those that the run began with, and those of stopped members
        resident = self.members * self.parameters * (initial + 1 + self.kept) + self.data
        step = COPIES * self.parameters + PASSES * self.batch + NOISE * self.noise
        look = self.parameters + LOOKS * self.looks
        built = self.parameters * (1 + self.kept)
        return round(resident + group * max(step, look, built))


def group_size(needs: Needs, total: int) -> int:
    """The number of members that move together on a GPU of so many bytes; 0 if not one fits.

    All of them if that fits; else as few as make groups of nearly equal size.
    """
    fitting = [n for n in range(1, needs.members + 1) if needs.bytes(n) <= USED * total]
    if not fitting:
        return 0
    groups = -(-needs.members // fitting[-1])
    return -(-needs.members // groups)
