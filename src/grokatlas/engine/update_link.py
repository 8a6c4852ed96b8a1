"""The interface of a link of ``updates``: a type alone, no behaviour."""

from __future__ import annotations

from typing import Protocol

from grokatlas.engine.contracts import Params, State


class UpdateLink(Protocol[State]):
    """The result of `build` of a change of updates: a link of the chain after the optimizer."""

    def init(self, params: Params, /) -> State:
        """The state before the first step.

        Raises:
            ValueError: the model lacks a parameter that the link names, or keywords do not agree.
        """

    def update(self, before: Params, after: Params, state: State, /) -> tuple[Params, State]:
        """Parameters that are taken in place of `after`, of the same layout, and the state.

        Args:
            before: parameters before the step.
            after: what the optimizer, or the link in front of this one, makes of them.
            state: of this link.
        """
