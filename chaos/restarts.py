"""What a supervisor that starts now would hold: from the checkpoints that this run left, and from history's start."""

from collections.abc import MutableMapping

from remit.log.kafka.log import KafkaLog
from supervisor.onlooker import look


def agree(log: KafkaLog, figures: MutableMapping[str, float]) -> list[str]:
    """Where the two differ, by workflow and by position; how much either reads goes into `figures`."""
    saved, whole = look(log), look(log, from_checkpoints=False)
    figures["transitions read from zero"] = whole.counts["folded"]
    figures["transitions read from checkpoints"] = saved.counts["folded"] + saved.counts["skipped"]
    ours, theirs = dict(saved.states.all()), dict(whole.states.all())
    keys = sorted(ours.keys() | theirs.keys())
    found = [f"{'/'.join(key)}: another state" for key in keys if ours.get(key) != theirs.get(key)]
    if (saved.decided, saved.sequences, saved.frozen) != (whole.decided, whole.sequences, whole.frozen):
        found.append("other positions, notes or frozen workflows")
    return found
