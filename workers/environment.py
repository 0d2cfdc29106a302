"""What a command may see of this machine, and what evidence says about it. Only this role imports it."""

import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from remit.ids import digest

_ALWAYS = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")


def scrubbed(home: Path, scratch: Path, allowed: Iterable[str], given: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command: a few plain variables, those allowed by name, those given; HOME is `home`.

    PATH begins with this interpreter's own folder, so that `python` is the one that the evidence tells of.
    """
    source = os.environ
    passed = {name: source[name] for name in (*_ALWAYS, *allowed) if name in source}
    own = str(Path(sys.executable).parent)
    path = os.pathsep.join((own, passed.get("PATH", os.defpath)))
    plain = {"LANG": "C.UTF-8", "TMPDIR": str(scratch)} | passed | {"PATH": path, "HOME": str(home)}
    return plain | dict(given)


def check_variables(allowed: Iterable[str]) -> list[str]:
    """Names of the variables that a check's command sees, of those that evidence tells of."""
    return [name for name in (*_ALWAYS, *allowed) if name in os.environ]


def passed_values(allowed: Iterable[str], secrets: Mapping[str, str]) -> list[str]:
    """The values that must never be written: those of the allowed variables and all secrets."""
    return [os.environ[name] for name in allowed if name in os.environ] + list(secrets.values())


def versions(constraints: Mapping[str, str]) -> dict[str, str]:
    """The interpreter's version, and that of each installed distribution that a constraint names, in lower case."""
    words = {_normal(word) for text in constraints.values() for word in _NAME.findall(text)}
    installed = _installed()
    return {"python": platform.python_version()} | {name: installed[name] for name in sorted(words & set(installed))}


def environment_digest(variables: Iterable[str]) -> str:
    """Digest over interpreter, platform, installed distributions and the names of the variables passed on."""
    return digest(
        {
            "interpreter": [platform.python_implementation(), platform.python_version()],
            "platform": [platform.system(), platform.release(), platform.machine()],
            "distributions": [list(each) for each in sorted(_installed().items())],
            "variables": sorted(variables),
        }
    )


@cache
def _installed() -> dict[str, str]:
    """Installed distributions of the interpreter that runs the commands, which is this one."""
    return {_normal(found.name): found.version for found in distributions() if found.name}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
