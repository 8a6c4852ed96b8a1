"""Operations that do not suit a step on a GPU, each with its source; and who may use them."""

from . import names_of

_SYNCHRONIZES = "documentation of torch.linalg: synchronizes that device with the CPU"
_COUNTED = "the size of its result is read on the host"
# what makes the host wait for the device, so that no CUDA graph can hold it
WAITS = {
    "_linalg_svd": f"{_SYNCHRONIZES} (svd, svdvals)",
    "_linalg_eigh": f"{_SYNCHRONIZES} (eigh, eigvalsh)",
    "linalg_eig": f"{_SYNCHRONIZES} (eig)",
    "_linalg_eigvals": f"{_SYNCHRONIZES} (eigvals)",
    "linalg_eigvals": f"{_SYNCHRONIZES} (eigvals)",
    "_linalg_check_errors": f"{_SYNCHRONIZES} (cholesky, inv, solve; their forms *_ex do not)",
    "_local_scalar_dense": "the number is read on the host: item(), float(), a branch",
    "equal": "the answer is read on the host",
    "nonzero": _COUNTED,
    "masked_select": _COUNTED,
    "_unique2": _COUNTED,
    "unique_dim": _COUNTED,
    "unique_consecutive": _COUNTED,
    "bincount": _COUNTED,
    "repeat_interleave": _COUNTED,
    "index by a mask": "as nonzero",
    "index_put by a mask": "as nonzero",
    "_unsafe_index_put by a mask": "as nonzero",
}
# programs of a step in which a component makes the host wait, and by which operation: a run with
# such a component cannot be captured as a CUDA graph
WAITING = {
    # J^+ of a Jacobian without full rank: eigenvalues below a cutoff are left out, for which no
    # form with a fixed number of products is known to keep the stated accuracy.
    ("dynamics", "riemannian_flow"): {"update": "_linalg_eigh"},
    # any number of steps at once in closed form: it reads the number, and waits once for each
    # stretch between two logged steps, not for each step.
    ("dynamics", "linear_descent"): {"advance": "_local_scalar_dense"},
}

# what has no repeatable form on a GPU -> the line of the documentation of
# torch.use_deterministic_algorithms that says so. That page has no line for `cumprod`, whose kernel
# is the one of `cumsum`: the gradient of a product calls it, here over the factors of one entry.
UNREPEATABLE = {
    "avg_pool3d_backward": "torch.nn.AvgPool3d",
    "_adaptive_avg_pool2d_backward": "torch.nn.AdaptiveAvgPool2d",
    "_adaptive_avg_pool3d_backward": "torch.nn.AdaptiveAvgPool3d",
    "adaptive_max_pool2d_backward": "torch.nn.AdaptiveMaxPool2d",
    "fractional_max_pool2d_backward": "torch.nn.FractionalMaxPool2d",
    "fractional_max_pool3d_backward": "torch.nn.FractionalMaxPool3d",
    "max_unpool2d": "torch.nn.MaxUnpool2d",  # and of one dimension, which calls it
    "max_unpool3d": "torch.nn.MaxUnpool3d",
    "upsample_linear1d_backward": "torch.nn.functional.interpolate",
    "upsample_bilinear2d_backward": "torch.nn.functional.interpolate",
    "upsample_bicubic2d_backward": "torch.nn.functional.interpolate",
    "upsample_trilinear3d_backward": "torch.nn.functional.interpolate",
    "reflection_pad1d_backward": "torch.nn.ReflectionPad1d",
    "reflection_pad2d_backward": "torch.nn.ReflectionPad2d",
    "reflection_pad3d_backward": "torch.nn.ReflectionPad3d",
    "nll_loss_forward": "torch.nn.NLLLoss",
    "nll_loss2d_forward": "torch.nn.NLLLoss",
    "_ctc_loss_backward": "torch.nn.CTCLoss",
    "_embedding_bag_backward": "torch.nn.EmbeddingBag",
    "_embedding_bag_dense_backward": "torch.nn.EmbeddingBag",
    "put": "torch.Tensor.put_",
    "histc": "torch.histc",
    "bincount": "torch.bincount",
    "median": "torch.median",
    "nanmedian": "torch.median",
    "grid_sampler_2d_backward": "torch.nn.functional.grid_sample",
    "grid_sampler_3d_backward": "torch.nn.functional.grid_sample",
    "cumsum": "torch.cumsum",
    "scatter_reduce": "torch.Tensor.scatter_reduce",
}
# lines of that documentation that name nothing which a trace could hold
ELSEWHERE = {"torch.nn.MaxUnpool1d", "torch.Tensor.resize_"}  # max_unpool2d; quantised tensors
# operations that have a repeatable form only with the variable CUBLAS_WORKSPACE_CONFIG, see
# https://docs.nvidia.com/cuda/cublas/#results-reproducibility; `rules/jobs/devices.py` sets it
PRODUCTS = {"mm", "bmm", "mv", "dot", "addmm", "addmv", "addbmm", "baddbmm"}
# components that use one nevertheless -> operations, each with a reason; none does
UNREPEATABLE_ALLOWED: dict[tuple[str, str], set[str]] = {}


def waiting(spec: dict, program: str) -> dict[str, str]:
    """The components of a run that make a program wait for the host, and by which operation.

    A run for which there is none, in ``update`` and in ``advance``, can be captured.
    """
    return {
        name: programs[program]
        for (block, name), programs in WAITING.items()
        if name in names_of(spec, block) and program in programs
    }
