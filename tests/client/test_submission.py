"""Submitting: what the log answers, and that a repeated submission is answered and never run again."""

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from remit import ids
from remit.client import policies, submission
from remit.errors import ContractInvalidError, LogError, RefusedError, SettingsError, UnconfirmedError
from remit.events.inputs import Contract
from remit.events.transitions import Transition, TransitionKind
from remit.log.memory import MemoryLog
from tests.supervisor.world import POLICY, World, two_tasks


def prepared(world: World, document: dict[str, Any] | None = None, workflow_id: str = "w1") -> Contract:
    rules = submission.newest_policy(world.log, workflow_id)
    return submission.prepare(document or two_tasks(), workflow_id, rules, world.store, world.folder)


def submit(world: World, document: dict[str, Any] | None = None, workflow_id: str = "w1") -> Transition:
    return submission.send(world.log, prepared(world, document, workflow_id))


def test_an_accepted_submission_is_told_by_its_transition(served: World) -> None:
    """The answer is the transition that the event caused, by its id."""
    event = prepared(served)
    found = submission.send(served.log, event)
    assert found.kind is TransitionKind.CONTRACT_ACCEPTED
    assert found.cause is not None
    assert found.cause.event_id == event.event_id


def test_the_same_content_again_is_a_duplicate(served: World) -> None:
    """STATE-5: byte for byte or with other key order, it is noted and dispatches nothing; the state stays."""
    served.worker()
    submit(served)
    again = submit(served, dict(reversed(two_tasks().items())))
    assert again.kind is TransitionKind.DUPLICATE
    assert served.kinds().count("contract_accepted") == 1
    assert served.workflow().version == again.version


def test_other_content_under_the_same_id_is_refused(served: World) -> None:
    """STATE-5: with the reason; contract and state of the first stay as they are."""
    submit(served)
    before = served.workflow()
    with pytest.raises(RefusedError, match="workflow_id is taken by a workflow with other content"):
        submit(served, two_tasks(objective="Something else"))
    after = served.workflow()
    assert (after.contract, after.version, after.tasks) == (before.contract, before.version, before.tasks)


def test_two_at_once_make_one_workflow(served: World) -> None:
    """STATE-5: from two threads, one is accepted, the other a duplicate; both succeed, and one dispatch follows."""
    found: list[TransitionKind] = []
    served.worker()
    threads = [threading.Thread(target=lambda: found.append(submit(served).kind)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(found) == [TransitionKind.CONTRACT_ACCEPTED, TransitionKind.DUPLICATE]
    while "dispatched" not in served.kinds():
        pass
    assert (served.kinds().count("contract_accepted"), served.kinds().count("dispatched")) == (1, 1)


def test_what_only_the_supervisor_finds_is_told_with_every_fault(served: World) -> None:
    """A contract that passed an older policy here is refused there; the faults come back, exit 2."""
    event = prepared(served)
    served.apply(POLICY.replace("shell: {pool: shell", "other: {pool: shell"))
    with pytest.raises(ContractInvalidError, match=r"CONTRACT_INVALID: tasks\.a\.task_type"):
        submission.send(served.log, event)


def test_an_invalid_file_is_refused_before_anything_is_written(world: World) -> None:
    """All faults at once; the log has no contract."""
    document = two_tasks(limits={"max_tokens": -1})
    del document["objective"]
    with pytest.raises(ContractInvalidError) as caught:
        prepared(world, document)
    assert len(caught.value.faults) == 2
    assert world.read("contracts") == []


def test_no_answer_is_unconfirmed_with_the_id(world: World) -> None:
    """KOPS-6: no supervisor serves: exit 3 in time, the message names event and workflow; a later one takes it up."""
    event = prepared(world)
    with pytest.raises(UnconfirmedError) as caught:
        submission.send(world.log, event, timeout=1.2)
    assert caught.value.exit_code == 3
    assert str(event.event_id) in str(caught.value)
    assert "remit show w1" in str(caught.value)
    assert "it lies on the log, and no supervisor has answered it" in str(caught.value)
    world.settle()
    assert world.kinds() == ["contract_accepted"]


class Mute(MemoryLog):
    """A cluster that went away: whoever asks waits for ever."""

    def reader(self) -> Any:
        threading.Event().wait()


class Broken(MemoryLog):
    """A cluster that refuses."""

    def reader(self) -> Any:
        raise LogError("the cluster does not answer")


@pytest.mark.parametrize("log", [Mute(), Broken()])
def test_a_cluster_that_is_gone_is_unconfirmed_in_time(log: MemoryLog) -> None:
    """KOPS-6: whatever hangs or fails, the caller hears within its time that nothing was sent."""
    with pytest.raises(UnconfirmedError, match="nothing was sent") as caught:
        submission.newest_policy(log, "w1", timeout=0.5)
    assert "--id w1" in str(caught.value)


def test_a_log_without_a_policy_says_so() -> None:
    """Refused: nobody could judge it."""
    with pytest.raises(RefusedError, match="remit policy apply FILE"):
        submission.newest_policy(MemoryLog(), "w1")


def test_references_are_resolved(world: World, tmp_path: Path) -> None:
    """A short commit becomes whole, a file beside the workflow is stored; the digest is over what was sent."""
    repository = tmp_path / "shop"
    git("init", "--quiet", "--initial-branch=main", str(repository))
    git("-C", str(repository), "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "first", "--allow-empty")
    commit = git("-C", str(repository), "rev-parse", "HEAD")
    (tmp_path / "model.md").write_text("the threat model")
    world.apply(POLICY.replace("repositories: {}", f"repositories: {{shop: {repository}}}"))
    inputs = {"code": f"repo://shop@commit:{commit[:8]}", "line": "repo://shop@main", "model": "file://model.md"}
    event = prepared(world, two_tasks(inputs=inputs))
    sent = json.loads(event.document)
    assert sent["inputs"]["code"] == sent["inputs"]["line"] == f"repo://shop@commit:{commit}"
    assert world.store.get(sent["inputs"]["model"]) == b"the threat model"
    assert event.content_digest == ids.digest(sent)


@pytest.mark.parametrize("name", ["../outside.md", "missing.md", "secret.md"])
def test_a_file_that_may_not_be_stored_is_a_fault(world: World, tmp_path: Path, name: str) -> None:
    """One that lies elsewhere, is missing, or holds a secret: named by its place, nothing is sent."""
    folder = tmp_path / "here"
    folder.mkdir()
    (tmp_path / "outside.md").write_text("elsewhere")
    (folder / "secret.md").write_text("Authorization: Bearer " + "ab12" * 10)
    rules = submission.newest_policy(world.log, "w1")
    with pytest.raises(ContractInvalidError, match=r"CONTRACT_INVALID: inputs\.model can't be read or stored"):
        submission.prepare(two_tasks(inputs={"model": f"file://{name}"}), "w1", rules, world.store, folder)


def test_ids() -> None:
    """The file's own, one in its place, or a fresh one; never one that may not be."""
    assert submission.own_id(two_tasks()) == "w1"
    assert submission.own_id({"task_id": "t-1"}) == "t-1"
    assert submission.own_id({"objective": "x"}) is None
    assert submission.under(two_tasks(), "w2")["workflow_id"] == "w2"
    assert submission.under({"task_id": "t-1"}, "t-2") == {"task_id": "t-2"}
    assert submission.under({"objective": "x"}, "w2") == {"objective": "x"}
    assert submission.fresh_id() != submission.fresh_id()
    with pytest.raises(SettingsError):
        submission.under(two_tasks(), "a/b")


def test_a_workflow_without_an_id_goes_by_its_key(served: World) -> None:
    """The document stays as it is; two submissions of it are two workflows."""
    document = two_tasks()
    del document["workflow_id"]
    assert submit(served, document, "fresh-1").workflow_id == "fresh-1"
    assert submit(served, document, "fresh-2").kind is TransitionKind.CONTRACT_ACCEPTED


def git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout.strip()  # noqa: S607


def test_the_newest_valid_policy_is_in_force(world: World) -> None:
    """Applying one puts its pools' topics first; a later invalid record on the topic changes nothing."""
    made: list[str] = []
    text = POLICY.replace("default_owner: user:priya", "default_owner: user:ana")
    policies.apply_policy(world.log, text, made.extend)
    world.apply("schema_version: policy-v1")
    found = policies.in_force(world.log)
    assert found is not None
    assert (found.policy.default_owner, found.text, made) == (
        "user:ana",
        text,
        ["dispatches.shell", "dispatches.review"],
    )
    assert not policies.apply_first(world.log, POLICY, made.extend)
    assert policies.apply_first(MemoryLog(), POLICY, made.extend)
