"""Which ports of 127.0.0.1 the broker gets. Only `remit.broker` imports it."""

import socket

from remit.broker.record import Record
from remit.errors import BrokerError


def chosen(last: Record | None, port: int | None) -> Record:
    """A record with the clients' port (`port`, else the last one if free, else any) and the controller's."""
    if port is not None and not is_free(port):
        raise BrokerError(f"port {port} of 127.0.0.1 is taken by another process: choose another, or none for any")
    kept = last.port if last and is_free(last.port) else None
    clients = port or kept or _free_port()
    controller = last.controller_port if last and is_free(last.controller_port) else _free_port()
    while controller == clients:
        controller = _free_port()
    return Record(clients, controller)


def is_free(port: int) -> bool:
    """Whether a broker could listen there now."""
    with socket.socket() as probe:
        # What the broker itself does: a port in TIME_WAIT is free, one that is listened on is not.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
