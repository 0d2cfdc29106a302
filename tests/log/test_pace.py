"""Batches are cut to what can be handled between two polls (KTXN-9)."""

from remit.log.kafka.pace import Pace


class Clock:
    """Stands until it is moved."""

    at = 0.0

    def __call__(self) -> float:
        """Now."""
        return self.at


def handled(pace: Pace, clock: Clock, count: int, seconds: float) -> int:
    """Hand out a batch that takes so long; how many the next may have."""
    pace.hand_out(count)
    clock.at += seconds
    return pace.limit(500)


def test_a_batch_that_took_too_long_makes_the_next_one_fit() -> None:
    """KTXN-9: whatever one record takes, up to the limit itself, the next batch takes a third of it at most."""
    clock = Clock()
    pace = Pace(60, clock)
    assert pace.limit(500) == 500
    assert handled(pace, clock, 500, 500) == 20
    assert handled(pace, clock, 20, 20) == 40
    assert handled(pace, clock, 1, 25) == 1


def test_a_pace_is_found_again() -> None:
    """Each batch that is quick doubles the next; a poll that brought nothing tells nothing."""
    clock = Clock()
    pace = Pace(60, clock)
    assert handled(pace, clock, 500, 100) == 100
    assert handled(pace, clock, 0, 1000) == 100
    assert [handled(pace, clock, 1, 1) for _ in range(4)] == [200, 400, 500, 500]
