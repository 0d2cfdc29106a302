"""A record whose acknowledgement never came: it may lie on the log, and asking or sending again is safe."""

from collections.abc import Sequence
from typing import Any

import pytest

from remit.client import policies, submission
from remit.client.cancelling import cancel
from remit.errors import LogError, UnconfirmedError
from remit.events.transitions import TransitionKind
from remit.log.protocols import Message
from tests.client.conftest import serving
from tests.client.test_submission import prepared
from tests.supervisor.world import POLICY, World, two_tasks


class Torn:
    """The world's log, whose broker dies between a record and the word that it lies there."""

    def __init__(self, world: World, *, written: bool) -> None:
        self._world, self._written = world, written
        self.partitions = world.log.partitions
        self.reader = world.log.reader

    def writer(self) -> "Torn":
        """A writer that is this very object."""
        return self

    def append(self, messages: Sequence[Message], _timeout: float = 30.0) -> Any:
        """Lay it down or not, and never say."""
        if self._written:
            self._world.writer.append(messages)
        raise LogError("1 messages were not acknowledged in time; whether they lie is unknown")

    def close(self) -> None:
        """Nothing to do."""


@pytest.mark.parametrize("written", [True, False])
def test_a_submission_that_nobody_acknowledged_may_be_sent_again(world: World, written: bool) -> None:
    """KOPS-6: exit 3 with the id; the same id again is a duplicate or the first, never a second workflow."""
    log: Any = Torn(world, written=written)
    with pytest.raises(UnconfirmedError, match=r"whether it arrived is not known") as caught:
        submission.send(log, prepared(world), timeout=5)
    assert caught.value.exit_code == 3
    assert "remit show w1" in str(caught.value)
    assert "remit submit FILE --id w1" in str(caught.value)
    world.worker()
    with serving(world):
        again = submission.send(world.log, prepared(world))
    assert again.kind is (TransitionKind.DUPLICATE if written else TransitionKind.CONTRACT_ACCEPTED)
    world.settle()
    assert (world.kinds().count("contract_accepted"), world.kinds().count("dispatched")) == (1, 1)


@pytest.mark.parametrize("written", [True, False])
def test_a_cancellation_that_nobody_acknowledged_may_be_sent_again(world: World, written: bool) -> None:
    """KOPS-6: exit 3, what to ask by, and one cancellation in the end."""
    world.submit(two_tasks())
    world.settle()
    log: Any = Torn(world, written=written)
    with pytest.raises(UnconfirmedError, match="to cancel again is safe") as caught:
        cancel(log, "default", "w1", task_id=None, reason="x", timeout=5)
    assert caught.value.exit_code == 3
    world.cancel()
    world.settle()
    assert world.kinds().count("workflow_stopped") == 1


def test_a_policy_that_nobody_acknowledged_is_told_by_its_hash(world: World) -> None:
    """KOPS-6: exit 3, and the hash to ask by."""
    log: Any = Torn(world, written=True)
    with pytest.raises(UnconfirmedError, match="remit policy show") as caught:
        policies.apply_policy(log, POLICY, lambda _: None, timeout=5)
    assert caught.value.exit_code == 3
    assert "whether the policy lies on the log is not known" in str(caught.value)
