"""Inputs: every record of an answered topic has exactly one set of transitions with its coordinates as their cause."""

from collections import defaultdict
from itertools import pairwise

from chaos.history import Entry, History, Key, Place
from remit.events.transitions import Transition
from remit.log.protocols import Recorded
from remit.topics import ANSWERED, Topic

Answer = tuple[Recorded, Transition]


def _answers(history: History) -> dict[Place, list[Answer]]:
    found: dict[Place, list[Answer]] = defaultdict(list)
    for recorded, event in history.transitions:
        cause = event.cause
        if cause is not None and cause.topic is not None and cause.partition is not None and cause.offset is not None:
            found[cause.topic, cause.partition, cause.offset].append((recorded, event))
    return found


def undecided(history: History) -> list[Entry]:
    """The records of answered topics that no transition names."""
    answered = _answers(history)
    return [each for each in history.inputs if each.recorded.topic in ANSWERED and each.place not in answered]


def decided_once(history: History, _submitted: list[Key]) -> list[str]:
    """None lost, none decided twice, in log order."""
    lost = [f"{_where(each.place)} ({each.event.workflow_id}) was never decided" for each in undecided(history)]
    answers = _answers(history)
    twice = [f"{_where(place)} was decided twice" for place, found in answers.items() if not _is_one_set(found)]
    return lost + twice + _reordered(answers)


def _is_one_set(found: list[Answer]) -> bool:
    """One writer, one moment, one key, sequences without a gap."""
    writers = {(event.writer, event.decided_at, recorded.key) for recorded, event in found}
    gaps = any(after.sequence != before.sequence + 1 for (_, before), (_, after) in pairwise(found))
    return len(writers) == 1 and not gaps


def _reordered(answers: dict[Place, list[Answer]]) -> list[str]:
    """Inputs of one partition are decided in their order."""
    at: dict[tuple[str, int], int] = {}
    found = []
    for place in sorted(answers, key=lambda each: (each[0], each[1], each[2])):
        decided = answers[place][0][0].offset
        if decided < at.get(place[:2], -1):
            found.append(f"{_where(place)} was decided before its predecessor")
        at[place[:2]] = decided
    return found


def caused(history: History, _submitted: list[Key]) -> list[str]:
    """A transition that names a record as its cause names one that is there, with that event in it."""
    lying = {each.place: each.event for each in history.inputs}
    found = []
    for place, answers in _answers(history).items():
        event = lying.get(place)
        if event is None:
            if place[0] != Topic.LEASES:  # kept for a day only
                found.append(f"{_where(place)} is named as a cause and is not there")
        elif any(each.workflow_id and each.cause and each.cause.event_id != event.event_id for _, each in answers):
            found.append(f"{_where(place)} is named as a cause with another event's id")
    return found


def _where(place: Place) -> str:
    return f"{place[0]}[{place[1]}]@{place[2]}"
