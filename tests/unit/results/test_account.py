"""An account that has a number and no name, as in a container that was started with one."""

import getpass
import os
import pwd

import pytest

from grokatlas.plan import project
from grokatlas.results import account

NAMES = ("LOGNAME", "USER", "LNAME", "USERNAME")


@pytest.fixture
def nameless(monkeypatch):
    def unknown(number):
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in NAMES:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("nameless")
@pytest.mark.parametrize("empty", [False, True])
def test_programs_get_the_number_of_an_account_without_a_name(monkeypatch, empty):
    if empty:
        monkeypatch.setenv("USER", "")
    with pytest.raises((KeyError, OSError)):
        getpass.getuser()  # what Snakemake asks
    account.tell_programs()
    assert getpass.getuser() == str(os.getuid())


@pytest.mark.usefixtures("nameless")
def test_a_plan_gives_jobs_a_name(monkeypatch):
    for name in ("PATH", "PYTHONPATH", "GROKATLAS_DEVICE", *project.KEPT_MEMORY):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # so that what it sets is undone
    project.use_this_code()
    assert os.environ["USER"] == str(os.getuid())


def test_a_name_stays(monkeypatch):
    monkeypatch.setenv("USER", "ada")
    account.tell_programs()
    assert os.environ["USER"] == "ada"
