"""Law 12 for what people write: workflow files, policies, decisions, with secrets in any field that they can fill."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.client import cancelling, identity, policies, submission
from remit.contract.clean import cleaned
from remit.errors import ContractInvalidError, PolicyInvalidError, RefusedError, RemitError
from remit.events.envelope import message
from remit.policy import load
from remit.redaction_rules import MARK
from remit.topics import Topic
from tests.client.conftest import serving
from tests.redaction.canaries import assert_clean, file_bytes, log_bytes, names, texts, told
from tests.supervisor.world import POLICY, World, two_tasks

Path_ = tuple[str | int, ...]
KEY = "\0"  # in a path: the text becomes a key there
PROSE: tuple[Path_, ...] = (
    ("objective",),
    ("tasks", "a", "objective"),
    ("tasks", "b", "definition_of_done", 0),
    ("constraints", "language"),
    ("constraints", "must_preserve", 0),
    ("definition_of_done", 0),
)
NAMES: tuple[Path_, ...] = (
    ("workflow_id",),
    ("workflow_type",),
    ("tenant_id",),
    ("owner",),
    ("data_classification",),
    ("inputs", "it"),
    ("inputs", KEY),
    ("commands", "suite", "argv", 1),
    ("commands", KEY),
    ("checks", "it works", 0, "id"),
    ("checks", "it works", 0, "command"),
    ("output_schemas", "s", "title"),
    ("tasks", KEY),
    ("tasks", "a", "task_type"),
    ("tasks", "a", "inputs", "it"),
    ("tasks", "a", "outputs", KEY),
    ("tasks", "a", "permissions", "paths", 0),
    ("tasks", "a", "tools", 0),
    ("tasks", "a", KEY),
    ("effects", 0, "target"),
    (KEY,),
)
BRISK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@contextmanager
def a_world() -> Iterator[World]:
    """A log with a policy and a supervisor, in a folder of its own."""
    with TemporaryDirectory() as folder:
        world = World(Path(folder))
        try:
            yield world
        finally:
            world.close()


def filled(path: Path_, text: str) -> dict[str, Any]:
    """A good workflow file with the text there."""
    document = two_tasks(constraints={"must_preserve": []}, commands={"suite": {"argv": ["python", "x"]}})
    document["tasks"]["a"] |= {"outputs": {"report": "value"}, "tools": ["run_command"]}
    document = copy.deepcopy(document)
    at: Any = document
    for step, then in pairwise(path):
        if isinstance(at, list):
            at.extend([{}] if not at else [])
            at = at[int(step)]
        else:
            at = at.setdefault(step, [] if isinstance(then, int) else {})
    match at, path[-1]:
        case list(), int():
            at[:1] = [text]
        case dict(), "\0":
            at[text] = next(iter(copy.deepcopy(at).values()), "x")
        case _:
            at[path[-1]] = text
    return document


def submitted(world: World, document: dict[str, Any]) -> RemitError | None:
    """Submit as a client does; what it is told if nothing is sent."""
    world.settle()
    named = submission.own_id(document) or submission.fresh_id()
    try:
        rules = submission.newest_policy(world.log, named)
        event = submission.prepare(document, named, rules, world.store, world.folder)
    except RemitError as error:
        return error
    world.writer.append([message(event, Topic.CONTRACTS)])
    world.settle()
    return None


@BRISK
@given(st.sampled_from(PROSE), texts())
def test_prose_is_sent_without_its_secrets(path: Path_, secret: tuple[str, str]) -> None:
    """REDACT-2, law 12: log, store and the supervisor's own records hold nothing of it; the contract is judged."""
    canary, text = secret
    with a_world() as world:
        error = submitted(world, filled(path, text))
        assert_clean(canary, log_bytes(world.log), file_bytes(world.folder), told(error))
        clean = cleaned(filled(path, text))
        assert MARK in repr(clean)
        assert cleaned(clean) == clean
        if error is None:
            assert world.kinds() == ["contract_accepted"]


@BRISK
@given(st.sampled_from(NAMES), st.one_of(names(), texts()))
def test_a_secret_in_a_name_refuses_the_file(path: Path_, secret: tuple[str, str]) -> None:
    """REDACT-2: an id, key, name or reference is never rewritten; nothing is sent, and no word of it is told."""
    canary, text = secret
    with a_world() as world:
        error = submitted(world, filled(path, text))
        assert isinstance(error, ContractInvalidError | RefusedError)
        assert_clean(canary, log_bytes(world.log), file_bytes(world.folder), told(error))
        assert world.read(Topic.CONTRACTS) == []


def test_a_client_that_cleans_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the looks above mean something."""
    monkeypatch.setattr(submission, "cleaned", dict)
    with a_world() as world:
        submitted(world, filled(("objective",), "with password=Zq7vK1mW9xT3pL5c"))
        with pytest.raises(AssertionError):
            assert_clean("Zq7vK1mW9xT3pL5c", log_bytes(world.log))


@settings(BRISK, max_examples=25)
@given(texts())
def test_a_reason_is_sent_without_its_secrets(secret: tuple[str, str]) -> None:
    """REDACT-2: why something is cancelled is for people, and so is what the transition copies of it."""
    canary, text = secret
    with a_world() as world:
        world.submit(two_tasks())
        world.settle()
        with serving(world):
            cancelling.cancel(world.log, "default", "w1", task_id=None, reason=text)
        assert world.workflow().stop_reason == "cancelled"
        assert_clean(canary, log_bytes(world.log))


@settings(BRISK, max_examples=25)
@given(names(), st.sampled_from(["workflow", "task", "tenant", "person"]))
def test_a_decision_that_names_a_secret_is_refused(secret: tuple[str, str], field: str) -> None:
    """REDACT-2: before it is sent, in words that don't name it."""
    canary, name = secret
    given_ = {"tenant_id": "default", "workflow_id": "w1", "task_id": "a"}
    given_ |= {f"{field}_id": name} if field != "person" else {}
    with a_world() as world, pytest.MonkeyPatch.context() as patch:
        world.submit(two_tasks())
        world.settle()
        if field == "person":
            patch.setattr(identity, "_user", lambda: name)
        with pytest.raises(RefusedError) as refused:
            cancelling.cancel(world.log, reason="x", timeout=5, **given_)
        assert world.read(Topic.DECISIONS) == []
        assert_clean(canary, log_bytes(world.log), told(refused.value))


def _policies(text: str) -> Iterator[str]:
    """A good policy with the text in one place after the other."""
    for path in (
        ("repositories", "it"),
        ("checks", "it works", 0, "id"),
        ("commands", "suite", "argv", 1),
        ("default_owner",),
        ("task_types", "shell", "pool"),
    ):
        document = yaml.safe_load(POLICY)
        at: Any = document
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = text
        yield yaml.safe_dump(document)
    for mapping in ("checks", "pools", "repositories"):
        document = yaml.safe_load(POLICY)
        document[mapping][text] = next(iter(document[mapping].values()), "x")
        yield yaml.safe_dump(document)
    commented = "\n".join(f"# {line}" for line in text.splitlines())
    yield f"{commented}\n{POLICY}"


@settings(BRISK, max_examples=10)
@given(st.one_of(names(), texts()))
def test_a_policy_with_a_secret_is_not_applied(secret: tuple[str, str]) -> None:
    """Law 12: it is hashed and published as it stands, so it is refused, comments included, by path and rule."""
    canary, text = secret
    with a_world() as world:
        before = len(world.read(Topic.POLICIES, 1))
        for policy in _policies(text):
            with pytest.raises(PolicyInvalidError) as refused:
                policies.apply_policy(world.log, policy, lambda _: None)
            assert_clean(canary, told(refused.value))
        assert len(world.read(Topic.POLICIES, 1)) == before
        assert_clean(canary, log_bytes(world.log))


def test_what_is_shipped_holds_none() -> None:
    """The default policy, comments included, passes the same look."""
    policies._refuse_secrets(load.default_text())
