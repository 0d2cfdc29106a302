"""The log in memory: product code for simulation and tests, under the same contract as Kafka's. Anyone may import it.

One `MemoryLog` is one cluster: readers, writers and sessions of it may live in several threads.
"""

from remit.log.memory.log import MemoryLog
from remit.log.memory.session import MemorySession, PreparedStep

__all__ = ["MemoryLog", "MemorySession", "PreparedStep"]
