"""`@remit.worker`: marks a function as a handler and says what it can do. Worker authors import it through `remit`."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from remit.errors import SettingsError

Handler = TypeVar("Handler", bound=Callable[..., Any])
_MARK = "__remit_worker__"


@dataclass(frozen=True)
class Registration:
    """What a handler can do."""

    capability: str
    tools: tuple[str, ...] = ()


def worker(capability: str, *, tools: Sequence[str] = ()) -> Callable[[Handler], Handler]:
    """Mark a function as the handler of a capability: it takes an Attempt and returns an outcome."""

    def mark(handler: Handler) -> Handler:
        setattr(handler, _MARK, Registration(capability, tuple(tools)))
        return handler

    return mark


def registration_of(handler: Callable[..., Any]) -> Registration | None:
    """What the decorator said of a handler."""
    found = getattr(handler, _MARK, None)
    return found if isinstance(found, Registration) else None


def load(target: str, folder: Path) -> Callable[..., Any]:
    """The function that `module:function` or `path/to/file.py:function` names, as seen from `folder`.

    Raises SettingsError when it isn't there; what the module itself raises on import is not caught.
    """
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise SettingsError("--module: must be MODULE:FUNCTION or FILE.py:FUNCTION")
    module = _from_file(folder / place) if place.endswith(".py") else _by_name(place, folder)
    handler = getattr(module, name, None)
    if not callable(handler):
        raise SettingsError(f"--module: {place} has no function {name}")
    return handler  # type: ignore[no-any-return]  # judged by callable


def _by_name(name: str, folder: Path) -> Any:  # noqa: ANN401 - a module
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    if not _exists(name):
        raise SettingsError(f"--module: there is no module {name}")
    return importlib.import_module(name)


def _exists(name: str) -> bool:
    """Whether there is such a module; packages above it are imported to see."""
    if not all(map(str.isidentifier, name.split("."))):
        return False
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:
        if f"{name}.".startswith(f"{error.name}."):
            return False
        raise  # one that a package above it asks for
    except ValueError:  # a module without a specification, such as __main__
        return False


def _from_file(path: Path) -> Any:  # noqa: ANN401 - a module
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not os.path.isfile(path):  # noqa: PTH113 - a name of any length
        raise SettingsError("--module: there is no such file")
    sys.path.insert(0, str(path.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
