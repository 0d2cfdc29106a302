"""A takeover in a process of its own: prints the bytes of memory that it added, and how many states it holds.

`python -m benchmarks.takeover BOOTSTRAP PREFIX`
"""

import gc
import sys

import psutil

from benchmarks.floor.connection import PARTITIONS
from remit.log.kafka.log import KafkaLog
from supervisor.onlooker import look
from supervisor.shard import Shards


def whole(log: KafkaLog) -> Shards:
    """The folded state of every shard; RuntimeError for a history that conflicts with itself."""
    shards = look(log)
    if shards.frozen:
        raise RuntimeError("the history conflicts with itself")
    return shards


def main() -> None:
    """Take over what lies under the prefix."""
    bootstrap, prefix = sys.argv[1:]
    log = KafkaLog(bootstrap, prefix, PARTITIONS)
    before = psutil.Process().memory_info().rss
    shards = whole(log)
    gc.collect()
    sys.stdout.write(f"{psutil.Process().memory_info().rss - before} {len(shards.states)}\n")


if __name__ == "__main__":
    main()
