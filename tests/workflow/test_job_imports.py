"""What each kind of job imports: a job is a process, and torch takes seconds to start."""

import sys

import pytest

from tests.checkout import called
from tests.tiers import every

pytestmark = pytest.mark.workflow
RUN = """
import sys
from grokatlas.cli import main
assert main(sys.argv[1:]) == 0
print(*{name.partition(".")[0] for name in sys.modules})
"""
HEAVY = {"numpy", "torch", "pyarrow", "pandas", "matplotlib", "seaborn", "scipy", "sklearn"}
HEAVY |= {"numba", "art", "shapely", "pydantic", "snakemake", "pooch"}
ARRAYS, FRAMES = {"numpy"}, {"numpy", "pyarrow", "pandas"}


@pytest.mark.parametrize(
    ("kind", "job", "needed"),
    every(
        5,
        [
            ("dataset", "data/*/spec.json", ARRAYS),
            ("train", "runs/*/spec.json", {"numpy", "pyarrow", "torch"}),
            ("measure", "measures/*/fourier_features-*.spec.json", FRAMES),
            ("table", "smoke/tables/geometry/*.spec.json", FRAMES),
            ("figure", "smoke/figures/geometry/fig1.spec.json", FRAMES | {"matplotlib"}),
        ],
        first=1,
    ),
)
def test_a_job_imports_only_what_it_needs(finished, tmp_path, kind, job, needed):
    file = min((finished.folder / "results").glob(job)).relative_to(finished.folder)
    command = [sys.executable, "-c", RUN, kind, str(file), "--out", str(tmp_path / "made")]
    done = called(
        *command,
        cwd=finished.folder,
        env={"PYTHONPATH": str(finished.folder / "src"), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) & HEAVY == needed
