"""A recorder of steps on a CPU that behaves as a CUDA graph does, so that capture can be tested.

Recording a call has no effect. A replay repeats the operations, not the call: each reads and writes
the tensors that it was recorded with, so what Python would have decided anew is not decided anew.
"""

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Pretended:
    """Records operations. `refuses` makes it fail, as an operation that cannot be captured does."""

    def __init__(self):
        self.refuses = False
        self.recorded = 0
        self.replayed = 0

    def warm_up(self, call):
        call()

    def record(self, call):
        with _Operations() as done:
            call()
            if self.refuses:
                done.undo()
                raise RuntimeError("operation not permitted when stream is capturing\nand more")
        done.undo()
        self.recorded += 1

        def replay():
            self.replayed += 1
            done.repeat()

        return replay


class _Operations(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.done = []
        self.before = []  # what was written over, in order, and what it was

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        written = _written(func, args, kwargs)
        self.before += [(tensor, tensor.clone()) for tensor in written]
        result = func(*args, **kwargs)
        fresh = [] if written else [r for r in tree_leaves(result) if isinstance(r, Tensor)]
        if not func.is_view:
            self.done.append((func, args, kwargs, fresh))
        return result

    def undo(self):
        for tensor, value in reversed(self.before):
            tensor.copy_(value)
        self.before = []

    def repeat(self):
        with torch.no_grad():
            for func, args, kwargs, fresh in self.done:
                result = func(*args, **kwargs)
                again = [r for r in tree_leaves(result) if isinstance(r, Tensor)]
                for old, new in zip(fresh, again if fresh else [], strict=True):
                    old.copy_(new)


def _written(func, args, kwargs):
    named = {a.name: value for a, value in zip(func._schema.arguments, args, strict=False)} | kwargs
    tensors = []
    for argument in func._schema.arguments:
        if argument.alias_info is not None and argument.alias_info.is_write:
            leaves = tree_leaves(named.get(argument.name))
            tensors += [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    return tensors
