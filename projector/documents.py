"""What stands in texts that events carry: a contract's normal form, a policy's rate. Pure; the fold imports it."""

from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa

from remit.contract.normal import Limits, decode
from remit.documents import parse
from remit.errors import PolicyInvalidError
from remit.events.transitions import ContractAccepted
from remit.policy.model import Prices

from .incoming import plain, struct_of

_LIMITS = struct_of(Limits)


class ContractUnreadableError(ValueError):
    """The embedded contract is not a normal form that this build knows, or holds what no table can."""


def normal_form(accepted: ContractAccepted) -> dict[str, Any]:
    """The contract as the columns normal, tasks and requirements, or ContractUnreadableError."""
    try:
        normal = plain(decode(accepted.document))
        tasks, requirements = list(normal.pop("tasks").values()), normal.pop("requirements")
        # Nothing else in it could be beyond what a column holds: all the rest is text.
        pa.array([normal["limits"], *(task["limits"] for task in tasks)], type=_LIMITS)
    except (msgspec.DecodeError, ValueError, OverflowError) as error:
        raise ContractUnreadableError(type(error).__name__) from None
    return {"normal": normal, "tasks": tasks, "requirements": requirements}


def human_minute(document: str) -> tuple[Decimal | None, str | None]:
    """Pounds per minute of a person's time and the environment, by a policy's text; None where it can't be read."""
    try:
        policy = parse(document, is_json=False, error=PolicyInvalidError)
        prices = Prices.model_validate(policy.get("prices", {}))
    except (PolicyInvalidError, ValueError):
        return None, None
    environment = policy.get("environment")
    return prices.human_minute, environment if isinstance(environment, str) else None
