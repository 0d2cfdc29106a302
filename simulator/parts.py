"""What the simulator runs of the roles: beside it in a checkout, below `remit` in a wheel."""

from typing import TYPE_CHECKING

from remit.roles import role

if TYPE_CHECKING:
    from projector import batches, compare, positions, rebuild, store
    from supervisor import (
        decide,
        fold,
        graph,
        inbox,
        inputs,
        limits,
        onlooker,
        outbox,
        service,
        shard,
        stalls,
        state,
        timers,
    )
    from supervisor.inspect import inspector, questions
else:
    batches, compare, positions = (role(f"projector.{each}") for each in ("batches", "compare", "positions"))
    rebuild, store = (role(f"projector.{each}") for each in ("rebuild", "store"))
    decide, fold, graph = (role(f"supervisor.{each}") for each in ("decide", "fold", "graph"))
    inbox, stalls = (role(f"supervisor.{each}") for each in ("inbox", "stalls"))
    inputs, limits, onlooker = (role(f"supervisor.{each}") for each in ("inputs", "limits", "onlooker"))
    outbox, service, shard = (role(f"supervisor.{each}") for each in ("outbox", "service", "shard"))
    state, timers = (role(f"supervisor.{each}") for each in ("state", "timers"))
    inspector, questions = (role(f"supervisor.inspect.{each}") for each in ("inspector", "questions"))

__all__ = [
    "batches",
    "compare",
    "decide",
    "fold",
    "graph",
    "inbox",
    "inputs",
    "inspector",
    "limits",
    "onlooker",
    "outbox",
    "positions",
    "questions",
    "rebuild",
    "service",
    "shard",
    "stalls",
    "state",
    "store",
    "timers",
]
