"""Whose workflow is meant: the flag, else the default tenant of the policy in force. Only `remit.cli` imports it."""

from collections.abc import Callable
from typing import Any

import click

from remit.client.effects import TIMEOUT_S
from remit.client.policies import in_force
from remit.client.within import within
from remit.errors import LogError
from remit.log.protocols import Log
from remit.policy import load

tenant_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--tenant", help="Whose workflow it is; by default the policy's default tenant."
)
"""The flag of every command that names a workflow; the command takes it as `tenant`."""


def tenant_of(log: Log, tenant: str | None, timeout: float = TIMEOUT_S) -> str:
    """The tenant to look under; LogError from a log that doesn't answer in time."""
    if tenant is not None:
        return tenant
    try:
        found = within(timeout, lambda: in_force(log))
    except TimeoutError:
        raise LogError(f"the cluster did not answer within {timeout:g} s") from None
    return found.policy.default_tenant if found else load.parse(load.default_text()).default_tenant
