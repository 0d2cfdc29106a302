"""What a handler does outside: the target is asked by key first, and nothing is called twice behind its back."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from remit.contract.normal import OutputKind
from remit.sdk.effects import effect_key, once
from tests.workers.rig import Rig, handout, offer_of

SCOPE = "default/wf:1/coding/1"
# A target is a folder with a file per key, and a log of what was called.
HANDLER = """
import pathlib, remit
target = pathlib.Path({target!r})
def look_up(key):
    file = target / key.replace("/", "%")
    return file.read_text() if file.exists() else None
def apply(key):
    with open(target / "calls", "a") as file:
        file.write(key + "\\n")
    (target / key.replace("/", "%")).write_text("receipt")
    return "receipt"
@remit.worker('implement')
def work(attempt):
    return remit.Completed({{"receipt": attempt.effect("mail", look_up, apply)}})
"""


def test_two_attempts_apply_an_effect_once(rig: Rig, tmp_path: Path) -> None:
    """LEASE-4, IDEM-9: the attempt that comes second, a zombie or a retry, finds what the first one did."""
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / "mine.py").write_text(HANDLER.format(target=str(target)), encoding="utf-8")
    with rig.working([sys.executable, "-m", "remit.sdk", "mine.py:work", str(tmp_path)], slots=2):
        wanted = handout({"receipt": OutputKind.VALUE, "log": OutputKind.LOG})
        results = [rig.result(rig.send(offer_of(wanted, token=token))) for token in (2, 3)]
    assert [rig.output(each)["receipt"] for each in results] == ["receipt", "receipt"]
    assert (target / "calls").read_text(encoding="utf-8") == f"{SCOPE}/mail\n"
    first, second = (rig.stored(rig.output(each)["log"]).decode() for each in results)
    assert f"effect {SCOPE}/mail: absent, applying" in first
    assert f"effect {SCOPE}/mail: applied" in first
    assert f"effect {SCOPE}/mail: found, not applied again" in second


def counting(calls: list[str], word: str, answer: object) -> Callable[[str], object]:
    """A call that is counted, and answers or raises."""

    def call(key: str) -> object:
        calls.append(f"{word} {key}")
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return call


def test_an_effect_that_raises_is_called_once(capsys: pytest.CaptureFixture[str]) -> None:
    """IDEM-7: no hidden second call; the record says that nobody knows what took effect."""
    calls: list[str] = []
    with pytest.raises(ValueError, match="broken"):
        once("k", counting(calls, "look", None), counting(calls, "apply", ValueError("broken")))
    assert calls == ["look k", "apply k"]
    assert "raised ValueError, may or may not have been applied" in capsys.readouterr().err


def test_nothing_is_applied_where_the_target_does_not_answer() -> None:
    """A look-up that raises is no look-up that found nothing."""
    calls: list[str] = []
    with pytest.raises(OSError, match="down"):
        once("k", counting(calls, "look", OSError("down")), counting(calls, "apply", "x"))
    assert calls == ["look k"]


@pytest.mark.parametrize("found", [0, "", False, []])
def test_whatever_is_found_is_found(found: object) -> None:
    """Only None means that the target has nothing under the key."""
    calls: list[str] = []
    assert once("k", counting([], "look", found), counting(calls, "apply", "x")) == found
    assert calls == []


@pytest.mark.parametrize("key", ["", "a\nb", "\x00", "k" * 257])
def test_a_key_that_no_target_could_hold_is_refused(key: str) -> None:
    """Before anything is asked or done."""
    with pytest.raises(ValueError, match="1 to 256 printable"):
        effect_key(SCOPE, key)
