"""A worker process that answers each offer at once: registers, shows itself alive, claims, sends a result.

It speaks Remit's events and nothing else: no spool, no workspace, no commands, so that the supervisor is measured.
"""

import signal
import threading
import time

from benchmarks.workload import POOL, REPORT, WORKER, InstantWorker
from remit.artefacts import ArtefactStore
from remit.codec import decode
from remit.events.service import Dispatch, DispatchKind
from remit.log.kafka.log import KafkaLog
from remit.log.protocols import Partition, Recorded
from remit.settings import load
from remit.topics import dispatches, partition_of, worker_key

BATCH, WAIT_S, ALIVE_S = 500, 0.05, 3.0


def main() -> None:
    """Work until SIGTERM, on the cluster that the environment names."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    settings = load()
    log = KafkaLog.from_settings(settings)
    worker = InstantWorker(ArtefactStore(settings.artefact_url).put(REPORT))
    inbox = Partition(dispatches(POOL), partition_of(worker_key(WORKER), log.partitions))
    reader, writer = log.reader(), log.writer()
    reader.assign(reader.ends([inbox]))
    writer.append([worker.registration()])
    shown = 0.0
    while not stop.is_set():
        if time.monotonic() - shown > ALIVE_S:
            writer.append([worker.liveness()])
            shown = time.monotonic()
        offers = [offer for each in reader.poll(BATCH, WAIT_S) if (offer := _offer(each)) is not None]
        if offers:
            # A claim counts once it is acknowledged: only then may work begin, and its result follow.
            writer.append([worker.claim(offer) for offer in offers])
            writer.append([worker.result(offer) for offer in offers])
    reader.close()
    writer.close()


def _offer(recorded: Recorded) -> Dispatch | None:
    event = decode(recorded.topic, recorded.value)
    return event if isinstance(event, Dispatch) and event.kind is DispatchKind.OFFER else None


if __name__ == "__main__":
    main()
