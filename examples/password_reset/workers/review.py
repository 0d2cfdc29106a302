"""The questions of the security review, as functions of code, test report and logs. Standard library only.

Each answers with the reasons it found against the code; no reason means that the check holds.
"""

import ast
import fnmatch
import re
from dataclasses import dataclass
from xml.etree import ElementTree as ET

TOKEN_BYTES = 16  # 128 bits
SECRET_NAME = re.compile(r"token|password|secret", re.IGNORECASE)
DIGEST_NAME = re.compile(r"digest|hash", re.IGNORECASE)
TOKEN_IN_TEXT = re.compile(r"token[=:]\s*['\"]?[A-Za-z0-9_-]{22}")
LOG_METHODS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
RANDOM_CALLS = {"token_bytes", "token_hex", "token_urlsafe"}
DIGEST_CALLS = {"salted_hmac", "sha256", "sha512", "blake2b", "make_password"}


@dataclass(frozen=True, kw_only=True)
class Material:
    """What the review looks at, all of one revision."""

    code: dict[str, ast.Module]  # path -> module
    cases: dict[str, bool]  # test id -> passed
    logs: str  # what the test run wrote

    def calls(self) -> list[tuple[str, str, ast.Call]]:
        """Every call in the code, as (path:line, name called, call)."""
        return [
            (f"{path}:{node.lineno}", _name(node.func), node)
            for path, module in self.code.items()
            for node in ast.walk(module)
            if isinstance(node, ast.Call)
        ]


def read_cases(report: str) -> dict[str, bool]:
    """Return the test ids of a JUnit report and whether each passed; an unreadable report has none."""
    if "<!DOCTYPE" in report or "<!ENTITY" in report:
        return {}
    try:
        found = ET.fromstring(report).iter("testcase")  # noqa: S314 (a document type is refused above)
    except ET.ParseError:
        return {}
    return {f"{case.get('classname')}::{case.get('name')}": len(_bad(case)) == 0 for case in found}


def leakage(material: Material) -> list[str]:
    """Tokens and passwords go to no log."""
    spoken = [
        f"{place} logs {word}"
        for place, name, call in material.calls()
        if name in LOG_METHODS | {"print"}
        for word in _secret_words(call)
    ]
    written = ["the log of the test run shows a token"] if TOKEN_IN_TEXT.search(material.logs) else []
    return spoken + written + _not_shown(material, "*test_reset_log*")


def storage(material: Material) -> list[str]:
    """What is stored of a token is a digest."""
    fields = [
        f"{path}:{node.lineno} stores {target.id}"
        for path, module in material.code.items()
        for node in ast.walk(module)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and _name(node.value.func).endswith("Field")
        for target in node.targets
        if isinstance(target, ast.Name) and "token" in target.id and not DIGEST_NAME.search(target.id)
    ]
    digests = any(name in DIGEST_CALLS for _, name, _ in material.calls())
    return fields + ([] if digests else ["no digest is made"]) + _not_shown(material, "*test_reset_storage*")


def strength(material: Material) -> list[str]:
    """A token is at least 16 bytes of the operating system's randomness."""
    sizes = [
        (place, _number(material, call.args[0]) if call.args else 32)
        for place, name, call in material.calls()
        if name in RANDOM_CALLS
    ]
    weak = [f"{place} makes a token of {size} bytes" for place, size in sizes if size is None or size < TOKEN_BYTES]
    return weak + ([] if sizes else ["no random token is made"]) + _not_shown(material, "*test_reset_strength*")


def sessions(material: Material) -> list[str]:
    """A changed password ends the account's open sessions."""
    kept = [f"{place} keeps a session" for place, name, _ in material.calls() if name == "update_session_auth_hash"]
    return kept + _not_shown(material, "*test_reset_sessions*")


def responses(material: Material) -> list[str]:
    """A bad token is answered in one place, so its answers are equal."""
    places = [
        f"{path}:{node.lineno}"
        for path, module in material.code.items()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and node.value == "invalid_token"
    ]
    spread = [] if len(places) == 1 else [f"bad tokens are answered in {len(places)} places {places}"]
    return spread + _not_shown(material, "*test_reset_responses*")


def single_use(material: Material) -> list[str]:
    """A token works once, also for several people at one moment."""
    globs = ("*test_reset_reused*", "*test_reset_concurrent*", "*test_reset_replay*")
    return [reason for glob in globs for reason in _not_shown(material, glob)]


def expiry(material: Material) -> list[str]:
    """A token ends."""
    return _not_shown(material, "*test_reset_expired*")


def rate_limit(material: Material) -> list[str]:
    """An account gets few tokens an hour."""
    return _not_shown(material, "*test_reset_rate_limit*")


CHECKS = (leakage, storage, strength, sessions, responses, single_use, expiry, rate_limit)


def _not_shown(material: Material, glob: str) -> list[str]:
    matching = [case for case in material.cases if fnmatch.fnmatchcase(case, glob)]
    if not matching:
        return [f"no test case {glob} was run"]
    return [f"{case} failed" for case in matching if not material.cases[case]]


def _bad(case: ET.Element) -> list[ET.Element]:
    return [child for child in case if child.tag in {"failure", "error", "skipped"}]


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _secret_words(call: ast.Call) -> list[str]:
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    names = [_name(node) for value in values for node in ast.walk(value) if isinstance(node, ast.Name | ast.Attribute)]
    return [name for name in names if SECRET_NAME.search(name)]


def _number(material: Material, node: ast.expr) -> int | None:
    """Return the number that an expression or a module's constant stands for."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) else None
    for module in material.code.values():
        for line in module.body:
            if isinstance(line, ast.Assign) and any(_name(target) == _name(node) for target in line.targets):
                return _number(material, line.value) if isinstance(line.value, ast.Constant) else None
    return None
