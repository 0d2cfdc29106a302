"""A real Apache Kafka on this machine, one node, without Docker: started, waited for, stopped by pid.

Outer ring: the command line and the tests import it; the core and the roles never do, since a
cluster of one's own takes its place. `up`, `down` and `running` are the whole API.
"""

from remit.broker.process import down, up
from remit.broker.record import Broker, running

__all__ = ["Broker", "down", "running", "up"]
