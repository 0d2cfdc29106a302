"""Finds a role's package: beside `remit` in a checkout, below it in an installed wheel. Only `remit.cli` imports it."""

import importlib
import importlib.util
from types import ModuleType

ROLES = ("supervisor", "workers", "projector")


def role(name: str, module: str | None = None) -> ModuleType:
    """The package of a role, or a `module` of it such as `service`."""
    if name not in ROLES:
        raise ValueError(f"no such role: {name}")
    package = f"remit.{name}" if importlib.util.find_spec(f"remit.{name}") else name
    return importlib.import_module(f"{package}.{module}" if module else package)
