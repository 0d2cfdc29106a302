"""Generated secrets in generated surroundings, and every byte that was written, so that one can be looked for."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from hypothesis import strategies as st

from remit.log.memory import MemoryLog

SHAPES: dict[str, Callable[[str], str]] = {
    "query": lambda c: f"GET https://host.example/path?key=AIza{c}{c}&page=2",
    "signed": lambda c: f"https://host.example/p?a=1&X-Amz-Signature={c}",
    "header": lambda c: f"Authorization: Bearer {c}{c}",
    "basic": lambda c: f"authorization=Basic {c}==",
    "digest": lambda c: f'Authorization: Digest username="x", response="{c}"',
    "option": lambda c: f"curl --api-key {c} https://host.example",
    "login": lambda c: f"postgres://app:{c}@db.example/app",
    "variable": lambda c: f"DATABASE_PASSWORD={c}",
    "exported": lambda c: f"export AWS_SECRET_ACCESS_KEY='{c}'",
    "json": lambda c: json.dumps({"api_key": c}),
    "nested": lambda c: json.dumps({"inner": json.dumps({"client_secret": c})}),
    "cookie": lambda c: f"Set-Cookie: sessionid={c}; Path=/",
    "pem": lambda c: f"-----BEGIN PRIVATE KEY-----\n{c}{c}\n-----END PRIVATE KEY-----",
    "jwt": lambda c: f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{c}",
    "github": lambda c: f"ghp_{c}{c}",
    "slack": lambda c: f"xoxb-1234-{c}",
    "anthropic": lambda c: f"sk-ant-{c}",
    "pair": lambda c: f"[('X-Api-Key', '{c}')]",
    "case": lambda c: f"PassWord : {c}",
    "assertion": lambda c: f"assert user.password == '{c}'",
    "storage": lambda c: f"AccountName=x;AccountKey={c}==;EndpointSuffix=y",
}
IDS: dict[str, Callable[[str], str]] = {
    "github": lambda c: f"ghp_{c}{c}",
    "slack": lambda c: f"xoxb-1234-{c}",
    "anthropic": lambda c: f"sk-ant-{c}",
    "stripe": lambda c: f"sk_live_{c}",
    "jwt": lambda c: f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{c}",
    "named": lambda c: f"token:{c}",
}
"""Those that fit into an id."""
LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"

canaries = st.builds(
    lambda head, digit, tail: f"{head}{digit}{tail}",
    st.text(LETTERS, min_size=7, max_size=9),
    st.sampled_from("23456789"),
    st.text(LETTERS, min_size=7, max_size=9),
)
"""Sixteen characters or so, as random as a secret's, no word of any text around it."""
words = st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=12)
edges = st.sampled_from([" ", "\n", "\t", " - ", "; ", "\r\n"])


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str]:
    """A canary, and a text that holds it in some shape amid others."""
    canary = draw(canaries)
    shape = SHAPES[draw(st.sampled_from(sorted(SHAPES)))](canary)
    return canary, f"{draw(words)}{draw(edges)}{shape}{draw(edges)}{draw(words)}"


@st.composite
def names(draw: st.DrawFn) -> tuple[str, str]:
    """A canary, and an id that holds it."""
    canary = draw(canaries)
    return canary, IDS[draw(st.sampled_from(sorted(IDS)))](canary)


def log_bytes(log: MemoryLog) -> Iterator[tuple[str, bytes]]:
    """Key, value and headers of every record of every topic, as they lie."""
    with log._store.changed:
        found = [(place, entry.record) for place, held in log._store._held.items() for entry in held.entries]
    for place, record in found:
        if record is not None:
            parts = (("key", record.key), ("value", record.value), *record.headers)
            yield from ((f"{place.topic}[{place.number}] {name}", data or b"") for name, data in parts)


def file_bytes(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file."""
    for path in folder.rglob("*"):
        yield f"name of {path}", str(path.relative_to(folder)).encode()
        if path.is_file():
            yield str(path), path.read_bytes()


def told(error: BaseException | None) -> Iterator[tuple[str, bytes]]:
    """Whatever an error and those behind it say, in any form."""
    while error is not None:
        yield type(error).__name__, f"{error} {error!r} {error.args!r} {vars(error)!r}".encode()
        error = error.__cause__ or error.__context__


def assert_clean(canary: str, *written: Iterator[tuple[str, bytes]]) -> None:
    """The canary stands nowhere."""
    leaks = [place for each in written for place, data in each if canary.encode() in data]
    assert not leaks, leaks
