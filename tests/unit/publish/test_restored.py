"""What a user is told while recorded figures are drawn."""

from pathlib import Path
from types import SimpleNamespace

from grokatlas.publish import restored
from grokatlas.rules import partial


def test_drawing_is_counted_while_it_lasts_and_what_fails_is_a_line(monkeypatch):
    jobs = [SimpleNamespace(target=Path(f"{number}"), inputs=[]) for number in range(25)]
    monkeypatch.setattr(partial, "at_hand", lambda *_: "")
    monkeypatch.setattr(
        restored, "_in_parallel", lambda there: ("no" * (each.name == "12") for each in there)
    )
    assert list(restored._draw(jobs)) == [
        "10 of 25 figures and tables done",
        "no",
        "20 of 25 figures and tables done",
        "drew 24 of 25 figures and tables",
    ]
