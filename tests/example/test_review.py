"""The security review's questions: each one finds the fault it looks for."""

import ast
from types import ModuleType
from typing import Any

import pytest

SOUND = """
import secrets
SIZE = 16
class Reset(Model):
    token_digest = models.CharField(max_length=64)
def make():
    token = secrets.token_urlsafe(SIZE)
    log.info("asked, account %s", account.pk)
    return salted_hmac("x", token)
def answer():
    return JsonResponse({"error": "invalid_token"})
"""
CASES = {
    f"tests.test_reset_{name}.T::test": True
    for name in (
        *("log", "storage", "strength", "sessions", "responses"),
        *("reused", "concurrent", "replay", "expired", "rate_limit"),
    )
}


def ask(review: ModuleType, question: str, code: str = SOUND, cases: dict[str, bool] = CASES, logs: str = "") -> Any:
    material = review.Material(code={"accounts/reset.py": ast.parse(code)}, cases=cases, logs=logs)
    return getattr(review, question)(material)


def test_sound_code_holds(review: ModuleType) -> None:
    """No question finds anything in code that is sound."""
    assert {check.__name__: ask(review, check.__name__) for check in review.CHECKS} == {
        check.__name__: [] for check in review.CHECKS
    }


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        ("leakage", "account.pk)", "token)"),
        ("leakage", 'log.info("asked', 'print(f"{reset.token}"); log.info("asked'),
        ("storage", "token_digest =", "token ="),
        ("storage", "salted_hmac", "str"),
        ("strength", "SIZE = 16", "SIZE = 8"),
        ("strength", "secrets.token_urlsafe(SIZE)", "random.choice(letters)"),
        ("sessions", "def make():", "def make():\n    update_session_auth_hash(request, user)"),
        ("responses", "def answer():", 'def other():\n    return {"error": "invalid_token"}\ndef answer():'),
    ],
)
def test_each_question_finds_its_fault(review: ModuleType, question: str, old: str, new: str) -> None:
    """A planted fault in the code is found by the question that looks for it."""
    assert old in SOUND
    assert ask(review, question, SOUND.replace(old, new))


def test_each_question_needs_its_cases(review: ModuleType) -> None:
    """Without its test cases, or with a failed one, no question holds."""
    failed = dict.fromkeys(CASES, False)
    for check in review.CHECKS:
        assert ask(review, check.__name__, cases={}), check.__name__
        assert ask(review, check.__name__, cases=failed), check.__name__


def test_an_unreadable_report_has_no_cases(review: ModuleType) -> None:
    """Garbage, and a report with a document type, count as no report."""
    cases = '<testcase classname="a" name="b"/><testcase classname="a" name="c"><skipped/></testcase>'
    assert review.read_cases(f"<testsuite>{cases}</testsuite>") == {"a::b": True, "a::c": False}
    assert review.read_cases("<testsuite") == {}
    assert review.read_cases("<!DOCTYPE x><testsuite/>") == {}
