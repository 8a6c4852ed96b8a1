"""The device that a job trains on: chosen, made repeatable, described.

torch takes seconds to start, so only what needs it imports it.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grokatlas.errors import UserError
from grokatlas.results import environment

if TYPE_CHECKING:
    import torch


# read by the libraries of linear algebra when they start
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def use_threads(count: int) -> None:
    """Let this process compute with so many threads, before it imports numpy or torch.

    A sum is rounded by the order of its terms, which depends on the number of threads: a job gives
    the numbers that it gives in the workflow, whoever starts it and on however many cores.
    """
    os.environ.update(dict.fromkeys(THREADS, str(count)))


def use_repeatable_kernels() -> None:
    """Let this process compute the same numbers every time, before it uses a GPU."""
    environment.compute_in_full()
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # for repeatable products
    import torch

    torch.set_deterministic_debug_mode("error")
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.set_float32_matmul_precision("highest")  # float32 is float32 in products
    torch.backends.cudnn.allow_tf32 = False  # and in convolutions, as on a CPU


def chosen(name: str) -> "torch.device":
    """The device that is asked for: ``auto`` is a GPU where one is visible."""
    import torch

    found = torch.cuda.is_available()
    if name == "cuda" and not found:
        raise UserError("device: cuda", "no CUDA device is visible here; use auto or cpu")
    return torch.device("cuda" if found and name != "cpu" else "cpu")


def name_of(device: "torch.device") -> str:
    """What a device calls itself."""
    import torch

    return "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device)


def facts(device: "torch.device", threads: int) -> dict[str, Any]:
    """What a manifest says of the device; after training, so that its peak memory is known."""
    import torch

    if device.type == "cpu":
        return {"type": "cpu", "threads": threads}
    found = torch.cuda.get_device_properties(device)
    return {
        "type": "cuda",
        "name": found.name,
        "uuid": str(found.uuid),
        "memory_mb": found.total_memory // 2**20,
        "driver": _driver(),
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "peak_memory_mb": torch.cuda.max_memory_allocated(device) // 2**20,
        "threads": threads,
    }


def _driver() -> str | None:
    """Version of the NVIDIA driver, as the kernel reports it."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
    except OSError:
        return None
    return text.split("  ")[1] if "  " in text else text.strip()
