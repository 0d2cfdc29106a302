"""Secrets are taken out of what is large as of what is small, and no lease runs out meanwhile."""

import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import pytest

from remit.errors import ArtefactError
from remit.log.protocols import Message, Recorded
from remit.redaction import Redactor
from tests.workers.rig import Rig, handout, offer_of, script
from workers.cleaning import LARGE, Cleaner
from workers.keeper import Held, Keeper

KNOWN = "Zq7vK1mW9xT3pL5c"
KEY = b"ghp_" + b"a1B2" * 9
LINE = b"a" * 99 + b"\n"


class Counting:
    """Counts what is published."""

    def __init__(self) -> None:
        self.taken = 0

    def append(self, messages: Sequence[Message], timeout: float = 30.0) -> list[Recorded]:  # noqa: ARG002
        self.taken += len(messages)
        return []

    def close(self) -> None:
        """Nothing to close."""


def test_renewals_go_on_while_much_is_redacted() -> None:
    """LEASE-3: redacting 32 MiB holds no thread of the runner up; by far more renewals than redacting has steps."""
    writer = Counting()
    keeper = Keeper(writer)
    keeper.start()
    keeper.hold(
        Held(UUID(int=1), 30.0, 0.005, lambda: Message("leases", b"k", b"v"), lambda: None, since=time.monotonic())
    )
    data = LINE * ((32 << 20) // len(LINE))
    before = writer.taken
    assert Cleaner([KNOWN]).data(data) == data
    during = writer.taken - before
    keeper.close()
    assert during >= 20


@pytest.mark.parametrize("place", [0, LARGE - 20, LARGE])
def test_large_bytes_lose_their_secrets_wherever_they_stand(place: int) -> None:
    """Known values and shapes alike; bytes that are no text stay."""
    filling = LINE * (LARGE // len(LINE) + 9)
    for secret in (KEY, KNOWN.encode()):
        data = filling[:place] + b"\n" + secret + b"\n" + filling[place:] + b"\xff\x00"
        clean = Cleaner([KNOWN]).data(data)
        assert secret not in clean
        assert clean == data.replace(secret, b"[redacted]")


def test_large_values_and_texts_are_looked_through_alike() -> None:
    """What a process of its own finds is what is found here."""
    large = "a b " * (LARGE // 3) + KEY.decode()
    value = {"text": large, "inner": [KNOWN, 1, None, {"\ud800": 0.5}]}
    assert Cleaner([KNOWN]).value(value) == Redactor([KNOWN]).value(value)
    assert Cleaner([KNOWN]).shapes(large + KNOWN) == ["known", "provider"]


def test_what_can_t_be_redacted_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that fails gives nothing back, least of all the bytes as they were."""
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(ArtefactError, match="could not be redacted: CalledProcessError"):
        Cleaner().data(LINE * (LARGE // 50))


def test_a_worker_redacts_large_outputs_apart(rig: Rig, tmp_path: Path) -> None:
    """The runner of a service has such a redactor: what it prints and leaves loses its secrets there."""
    handler = f"print('x' * {LARGE}, {KEY.decode()!r})\n"
    with rig.working(script(tmp_path, handler)) as service:
        assert isinstance(service.attempts._bench.redactor, Cleaner)
        body = rig.result(rig.send(offer_of(handout()))).result
    assert body is not None
    assert body.log is not None
    assert rig.store.get(body.log).endswith(b"x [redacted]\n")
