"""The machine and the software of this process, as manifests record them."""

import importlib.metadata
import os
import platform
import resource
import socket
import sys
from pathlib import Path
from typing import Any

# packages that can change a number, and those that draw it
COMPUTING = ("torch", "numpy", "numba", "scikit-learn", "adversarial-robustness-toolbox")
DRAWING = ("pandas", "matplotlib")
PACKAGES = (*COMPUTING, *DRAWING, "pyarrow", "safetensors", "snakemake")

# variables that choose kernels, threads or the order of operations
VARIABLES = ("PYTHONHASHSEED", "GLIBC_TUNABLES", "NVIDIA_TF32_OVERRIDE")
FAMILIES = (
    *("ATEN_", "TORCH_", "PYTORCH_", "CUBLAS_", "CUBLASLT_", "CUDNN_", "DNNL_", "ONEDNN_"),
    *("MKL_", "OMP_", "GOMP_", "KMP_", "OPENBLAS_", "GOTO_", "BLIS_", "VECLIB_", "NUMEXPR_"),
    *("NUMBA_", "NPY_"),
)
# by these, libraries compute in fewer bits than a run's dtype has, or by other means
LOWERING = {
    "cuda": (
        *("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "NVIDIA_TF32_OVERRIDE"),
        *("CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION"),
    ),
    "cpu": ("DNNL_DEFAULT_FPMATH_MODE", "ONEDNN_DEFAULT_FPMATH_MODE"),
}


def compute_in_full() -> None:
    """Let this process, and those that it starts, compute in the dtype that a spec names.

    Libraries read these variables when they are imported, or when they first use a GPU.
    """
    for name in (*LOWERING["cuda"], *LOWERING["cpu"]):
        os.environ.pop(name, None)
    os.environ["NVIDIA_TF32_OVERRIDE"] = "0"  # convolutions have TF32 unless they are asked


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that can change a number or a file."""
    by_package = {"python": platform.python_version()}
    for package in ("grokatlas", *PACKAGES):
        try:
            by_package[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return by_package


def computing() -> dict[str, str]:
    """Versions of the packages that can change a number."""
    return {name: version for name, version in versions().items() if name in COMPUTING}


def host() -> dict[str, Any]:
    """The machine: name, system, CPU model, cores; and the batch job, if one is known.

    In a process that uses torch also ``cpu_capability``: the vector instructions of its kernels.
    """
    facts: dict[str, Any] = {
        "name": socket.gethostname(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
    }
    torch = sys.modules.get("torch")
    if torch is not None:
        facts["cpu_capability"] = torch.backends.cpu.get_cpu_capability()
    job = os.environ.get("SLURM_JOB_ID")
    return facts | ({"slurm_job": job} if job else {})


def variables() -> dict[str, str]:
    """The variables that are set and can change a number; those that name a place are left out."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if (name in VARIABLES or name.startswith(FAMILIES)) and value and "/" not in value
    }


def peak_memory_mb() -> float:
    """The largest resident memory of this process so far, in MiB."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unit = 1 if sys.platform == "darwin" else 1024  # bytes that the kernel counts in
    return round(size * unit / 2**20, 1)


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
