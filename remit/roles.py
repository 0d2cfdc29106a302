"""Where a role's code lies: beside `remit` in a checkout, inside it in a wheel. Only the command line calls it."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

ROLES = ("supervisor", "workers", "projector")


def role(path: str) -> ModuleType:
    """The module of a role, such as `supervisor` or `supervisor.service`, from whichever place it is in."""
    name = path.partition(".")[0]
    if name not in ROLES:
        raise LookupError(f"{name} is no role")
    inside = find_spec(f"remit.{name}") is not None
    return import_module(f"remit.{path}" if inside else path)
