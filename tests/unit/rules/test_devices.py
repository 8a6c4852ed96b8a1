"""A job computes in the dtype that its spec names, whatever the machine's variables say."""

import os
import sys

import pytest

from grokatlas.results import environment, files, layout
from tests.checkout import called
from tests.runs import job_file

AMBIENT = {  # as images of PyTorch, and guides for CPUs with bfloat16, set them
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1",
    "NVIDIA_TF32_OVERRIDE": "1",
    "DNNL_DEFAULT_FPMATH_MODE": "BF16",
    "ONEDNN_DEFAULT_FPMATH_MODE": "ANY",
    "CUBLAS_EMULATE_DOUBLE_PRECISION": "1",
    "CUBLAS_WORKSPACE_CONFIG": ":16:8",
}
CONVOLVED = (
    "import hashlib, torch;"
    "torch.manual_seed(0);"
    "found = torch.conv2d(torch.randn(8, 3, 16, 16), torch.randn(16, 3, 3, 3));"
    "print(hashlib.sha256(found.numpy().tobytes()).hexdigest());"
)
REPEATABLE = "from grokatlas.rules.jobs import devices; devices.use_repeatable_kernels();"


def said(code: str, variables: dict[str, str]) -> list[str]:
    """What a process prints, with these variables and no other that lowers precision."""
    names = {*environment.LOWERING["cuda"], *environment.LOWERING["cpu"]}
    env = {name: value for name, value in os.environ.items() if name not in names} | variables
    command = [sys.executable, "-c", code]
    return called(*command, check=True, env=env).stdout.split()


def test_products_and_convolutions_on_a_gpu_have_all_their_bits():
    code = (
        "import os, torch;"
        "print(torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32,"
        "torch.get_float32_matmul_precision(), os.environ['NVIDIA_TF32_OVERRIDE'],"
        "os.environ['CUBLAS_WORKSPACE_CONFIG'])"
    )
    expected = ["False", "False", "highest", "0", ":4096:8"]
    assert said(REPEATABLE + code, AMBIENT) == expected
    late = "import torch; assert torch.backends.cuda.matmul.allow_tf32;"  # as in a notebook
    assert said(late + REPEATABLE + code, AMBIENT) == expected


def test_convolutions_on_a_cpu_are_the_same():
    """Only a CPU with bfloat16 tells them apart."""
    assert said(REPEATABLE + CONVOLVED, AMBIENT) == said(CONVOLVED, {})


@pytest.mark.parametrize("ambient", [{}, AMBIENT])
def test_every_job_leaves_them_out_before_a_library_is_imported(tmp_path, ambient):
    sample = {"point": [1.0, 0.0], "target": 1.0, "test_points": 1, "test_seed": 0}
    tasks = [{"name": "one_sample", **sample}]
    job_file(tmp_path / "spec.json", "dataset", {"tasks": tasks})
    code = "import sys; from grokatlas import cli; sys.argv = ['', 'dataset', 'spec.json'];"
    code += f"import os; os.chdir({str(tmp_path)!r}); sys.exit(cli.main())"
    said(code, ambient)
    recorded = files.read_json(layout.manifest_of("dataset", tmp_path))["environment"]
    assert recorded["NVIDIA_TF32_OVERRIDE"] == "0"
    assert not {*AMBIENT} & {*recorded} - {"NVIDIA_TF32_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG"}
