"""The grant of an offer: whom it is for, how long it lives, who signed it; what the supervisor may not hold."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit import grants
from remit.contract.normal import Limits, OutputKind, Permissions, TaskContract
from remit.events.base import InputVersion
from remit.events.service import Dispatch, Grant
from remit.settings import Settings
from supervisor.checks.outputs import read_outputs
from supervisor.service import Supervisor
from tests.supervisor.world import World, two_tasks

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
WORKER_KEY = grants.public_text(Ed25519PrivateKey.from_private_bytes(b"w" * 32))


class SignedWorld(World):
    """A world whose supervisors have a key."""

    def _supervisor(self, name: str) -> Supervisor:
        made = super()._supervisor(name)
        made.close()
        return Supervisor(self.log, name, self.store, self.clock, KEY)

    def _inspected(self) -> None:
        """Nothing is inspected here."""


def granted(world: World, **document: Any) -> tuple[Dispatch, Grant]:
    world.worker(public_key=WORKER_KEY)
    world.submit(two_tasks(**document))
    world.settle()
    offer = world.offer()
    assert offer.offer is not None
    return offer, offer.offer.grant


def test_an_offer_s_grant_verifies_offline_and_fits_its_worker_alone(tmp_path: Path) -> None:
    """Signed by the supervisor, bound to worker, key and attempt, with the calls that are reserved."""
    world = SignedWorld(tmp_path)
    offer, grant = granted(world)
    world.close()
    assert grants.signature_faults(grant, [KEY.public_key()]) == ()
    assert grants.scope_faults(grant, offer, WORKER_KEY) == ()
    assert (grant.worker_id, grant.worker_key, grant.attempt_id) == ("w1", WORKER_KEY, offer.attempt_id)
    assert offer.offer is not None
    assert grant.max_tool_calls == offer.offer.remaining.tool_calls
    assert grant.permissions == {"repository": "none"}


def test_without_a_key_it_is_unsigned_but_bound(world: World) -> None:
    """What a worker without a trust anchor can still check."""
    offer, grant = granted(world)
    assert (grant.signature, grant.key_id, grant.worker_id) == (None, None, "w1")
    assert grant.attempt_id == offer.attempt_id


@pytest.mark.parametrize(("workflow", "task", "seconds"), [(600, 60, 10 + 60), (600, 600, 600)])
def test_it_lives_as_long_as_its_attempt_may(world: World, workflow: int, task: int, seconds: int) -> None:
    """Until the attempt's hard end, counted from the last moment of a claim; the workflow's, where that comes first."""
    tasks = two_tasks()["tasks"]
    tasks["a"]["limits"] = {"deadline_seconds": task}
    _, grant = granted(world, limits={"deadline_seconds": workflow}, tasks=tasks)
    assert grant.expires_at - world.clock() == timedelta(seconds=seconds)


def test_the_supervisor_has_no_place_for_credentials_of_tools_or_targets() -> None:
    """Its settings name the broker's login, the artefact store and folders; and `run` takes but a name."""
    from remit.cli.supervisor import run  # noqa: PLC0415 - of the command line

    assert set(Settings.model_fields) == {
        "bootstrap",
        "topic_prefix",
        "partitions",
        "home",
        "artefacts",
        "security_protocol",
        "sasl_mechanism",
        "sasl_username",
        "sasl_password",
        "ssl_ca_location",
        "ssl_certificate_location",
        "ssl_key_location",
        "display_zone",
    }
    assert [each.name for each in run.params] == ["name"]


@pytest.mark.parametrize("granted", ["none", "read-only", "execute"])
def test_a_revision_without_the_grant_to_write_is_refused(granted: str) -> None:
    """The gate lets no such contract in; should there be one, its result is refused all the same."""
    task = TaskContract(
        task_id="a",
        task_type="implement",
        capability="implement",
        pool="coders",
        objective="Do it",
        outputs={"revision": OutputKind.REVISION},
        permissions=Permissions(grants={"repository": granted}),
        limits=Limits(),
    )
    base = InputVersion(name="repository", kind="git", reference=f"repo://accounts@commit:{'a' * 40}")
    output = json.dumps({"revision": "b" * 40})
    fault = "output.revision is a revision, but permissions.repository grants no write"
    assert read_outputs(task, (base,), output).faults == (fault,)
    writes = msgspec.structs.replace(task, permissions=Permissions(grants={"repository": "read-write:x"}))
    assert read_outputs(writes, (base,), output).faults == ()
