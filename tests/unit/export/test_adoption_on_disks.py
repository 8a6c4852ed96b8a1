"""Adopting across disks, and where a write fails: all of an archive arrives, or nothing does."""

import itertools
import shutil
import tempfile
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.errors import UserError
from grokatlas.export import adoption
from grokatlas.results import files as store
from grokatlas.results import layout
from tests.tiers import every
from tests.unit.export.archives import assert_refused, content


def everything(*folders: Path) -> dict[str, object]:
    """Every file, folder and link, with what it holds."""
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            link, file = path.is_symlink(), path.is_file()
            found[str(path)] = path.readlink() if link else path.read_bytes() if file else None
    return found


def content_below(results: Path) -> dict[str, bytes]:
    return {f"results/{name}": text for name, text in content(results).items()}


def everything_here() -> list[str]:
    return sorted(str(path) for path in Path("results").rglob("*") if "/self/" not in str(path))


@pytest.fixture
def other_disk(tmp_path):
    """A folder on another file system than the tree."""
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second file system here")
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        yield Path(folder)


@pytest.fixture
def crowded(packed, tree):
    """An archive, and a folder whose results differ from it and are to be replaced."""
    adoption.adopt(packed, replace=False)
    for kind in ("run", "table"):
        layout.outputs(kind, tree[kind])[0].write_bytes(b"mine")
    return packed


def test_a_failed_write_leaves_nothing(packed, monkeypatch):
    monkeypatch.setattr(
        adoption.os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left"))
    )
    assert_refused(packed, "cannot be written: No space left")
    assert not Path("results").exists()


def test_results_that_are_a_link_to_another_disk_are_filled(packed, tmp_path, other_disk):
    Path("results").symlink_to(other_disk)
    adoption.adopt(packed, replace=False)
    assert content_below(other_disk) == content(tmp_path / "from")
    assert not [path for path in everything(Path(), other_disk) if ".part" in path]


def test_a_run_that_leads_to_another_disk_is_filled(packed, tree, other_disk):
    tree["run"].parent.mkdir(parents=True)
    tree["run"].symlink_to(other_disk)
    adoption.adopt(packed, replace=False)
    assert store.verified(tree["run"] / layout.HISTORY)
    assert not list(other_disk.glob(".*"))


@pytest.mark.parametrize("name", ["results/runs", "results/runs/{}"])
@pytest.mark.parametrize("target", ["/proc/self", "missing"])
def test_a_folder_that_cannot_be_written_leaves_all_as_before(packed, tree, name, target):
    link = Path(name.format(tree["run"].name))
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    before = everything_here()
    with pytest.raises(UserError, match=r"cannot be written|has 0 B left"):
        adoption.adopt(packed, replace=False)
    assert everything_here() == before


def _call_number(number: int, name: str, monkeypatch) -> list[int]:
    """Let one call of a method of `Path` fail as on a full disk; the list counts them."""
    real, calls = getattr(Path, name), [0]

    def counted(self, *arguments, **keywords):
        calls[0] += 1
        if calls[0] == number:
            raise OSError(28, "No space left on device", str(self))
        return real(self, *arguments, **keywords)

    monkeypatch.setattr(Path, name, counted)
    return calls


@pytest.mark.parametrize(
    ("name", "started"),
    every(4, itertools.product(["rename", "replace", "mkdir"], ["empty", "crowded"]), first=1),
)
def test_whatever_write_fails_all_is_as_before(name, started, request, packed, monkeypatch, capsys):
    if started == "crowded":
        request.getfixturevalue("crowded")
    before, failed = everything(Path()), 0
    for number in range(1, 100):
        with monkeypatch.context() as patch:
            calls = _call_number(number, name, patch)
            failed += cli.main(["adopt", "--replace", str(packed)])
        assert ("No space left" in capsys.readouterr().err) == (calls[0] >= number)
        if calls[0] < number:
            break
        assert everything(Path()) == before
    assert failed == number - 1
    assert failed > 0 or (started, name) == ("crowded", "mkdir")


def test_an_interruption_leaves_all_as_before(crowded, monkeypatch):
    before = everything(Path())
    monkeypatch.setattr(
        adoption.placing, "_near", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        adoption.adopt(crowded, replace=True)
    assert everything(Path()) == before


def test_the_space_of_the_disk_of_results_counts(packed, other_disk, monkeypatch):
    Path("results").symlink_to(other_disk)
    real = shutil.disk_usage

    def usage(folder):
        small = Path(folder).stat().st_dev == other_disk.stat().st_dev
        return shutil._ntuple_diskusage(10**6, 10**6 - 1000, 1000) if small else real(folder)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    with pytest.raises(UserError, match=r"the disk of results has 1\.0 kB left"):
        adoption.adopt(packed, replace=False)
