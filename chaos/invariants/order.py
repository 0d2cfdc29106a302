"""Order: sequences, generations, and that no older attempt or writer had an effect."""

from collections.abc import Iterator

from chaos.history import History, Key
from remit.events.transitions import NOTES, Transition, TransitionKind
from supervisor.fold import Verdict, fold
from supervisor.state import State, initial

OF_THE_NEWEST = frozenset({TransitionKind.CLAIMED, TransitionKind.INSPECTION_REQUESTED, TransitionKind.RESULT_ACCEPTED})


def sequences(history: History, _submitted: list[Key]) -> list[str]:
    """Of each key 1, 2, 3 … in log order, and versions that notes leave alone; event ids never twice."""
    found = [fault for key, events in history.streams.items() for fault in _counted(key[1], events)]
    ids = [event.event_id for _, event in history.transitions]
    return found + ([f"{len(ids) - len(set(ids))} event ids stand twice"] if len(set(ids)) < len(ids) else [])


def _counted(key: str, events: list[Transition]) -> Iterator[str]:
    version = 0
    for wanted, event in enumerate(events, 1):
        if event.sequence != wanted:
            yield f"{key}: sequence {event.sequence} ({event.kind}) stands where {wanted} must"
            return
        if event.workflow_id:
            version += event.kind not in NOTES
            if event.version != version:
                yield f"{key}: version {event.version} at sequence {wanted} instead of {version}"
                return


def zombies(history: History, _submitted: list[Key]) -> list[str]:
    """Generations of a shard only rise, each has one writer, and only the newest attempt of a task moves it."""
    found = [fault for shard, events in history.shards.items() for fault in _generations(shard, events)]
    return found + [fault for key, events in history.workflows.items() for fault in _tokens(key, events)]


def _generations(shard: int, events: list[Transition]) -> Iterator[str]:
    newest, instance = 0, ""
    for event in events:
        writer = event.writer
        if writer.generation < newest:
            yield f"shard {shard}: generation {writer.generation} of {writer.instance} behind {newest} of {instance}"
        elif writer.generation == newest and writer.instance != instance:
            yield f"shard {shard}: generation {newest} was written by {instance} and {writer.instance}"
        newest, instance = max(newest, writer.generation), writer.instance


def _tokens(key: Key, events: list[Transition]) -> Iterator[str]:
    newest: dict[str | None, int] = {}
    for event in events:
        if event.kind is TransitionKind.DISPATCHED:
            if (event.fencing_token or 0) <= newest.get(event.task_id, 0):
                yield f"{'/'.join(key)}: token {event.fencing_token} of {event.task_id} did not rise"
            newest[event.task_id] = event.fencing_token or 0
        elif event.kind in OF_THE_NEWEST and event.fencing_token != newest.get(event.task_id):
            yield f"{'/'.join(key)}: {event.kind} of {event.task_id} under the old token {event.fencing_token}"


def folds(history: History, _submitted: list[Key]) -> list[str]:
    """The product's own fold takes every transition, none ignored, none in conflict."""
    found = []
    for key, events in history.workflows.items():
        state: State = initial(*key)
        for event in events:
            folded = fold(state, event)
            if folded.verdict is not Verdict.FOLDED:
                found.append(f"{'/'.join(key)}: sequence {event.sequence} ({event.kind}) is {folded.verdict}")
                break
            state = folded.state
    return found
