"""The rules of the contract gate, one module per kind of rule; each looks at a filled file and yields faults.

Pure; only the gate imports it.
"""

from collections.abc import Callable, Iterator

from remit.contract.filled import Filled
from remit.contract.rules import (
    data,
    dependencies,
    effects,
    identity,
    limits,
    permissions,
    references,
    requirements,
    routing,
    schemas,
    spawning,
    subjects,
    verification,
)
from remit.faults import Fault

Rule = Callable[[Filled], Iterator[Fault]]

RULES: tuple[Rule, ...] = (
    identity.faults,
    data.faults,
    references.faults,
    limits.faults,
    requirements.faults,
    schemas.faults,
    effects.faults,
    dependencies.faults,
    routing.faults,
    permissions.faults,
    subjects.faults,
    spawning.faults,
    verification.faults,
)
