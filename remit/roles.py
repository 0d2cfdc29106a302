"""Finds a role's modules: beside `remit` in a checkout, below it in an installed wheel.

Only `remit.cli` and the simulator import it.
"""

import importlib
import importlib.util
from types import ModuleType

ROLES = ("supervisor", "workers", "projector", "simulator")


def role(path: str) -> ModuleType:
    """A role's package or a module of it, such as `supervisor.service`; LookupError for anything else."""
    name = path.partition(".")[0]
    if name not in ROLES:
        raise LookupError(f"no such role: {name}")
    inside = importlib.util.find_spec(f"remit.{name}") is not None
    return importlib.import_module(f"remit.{path}" if inside else path)
