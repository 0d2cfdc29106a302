"""Records from the log -> the batch that one commit writes. The service and the rebuild import it."""

from collections.abc import Sequence
from dataclasses import replace

from remit.log.protocols import Recorded

from .decoding import read
from .fold import Batch, fold, streams_of
from .store import Store


def batch_of(store: Store, records: Sequence[Recorded], count: int) -> Batch:
    """What the records add to what `store` holds; `count` is the agreed count of the sharded topics.

    Transitions that are there already are rare, so their ids are looked up, and all is folded again, only then.
    """
    facts = store.facts(streams_of(records))
    batch = fold(read(records, count), facts)
    if batch.unknown:
        batch = fold(read(records, count), replace(facts, ids=store.ids(batch.unknown)))
    return batch
