"""`remit resolve` and `remit retry`: a person's decision on an open item, answered by the transition that followed."""

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import click

from remit.cli.answers import one_document
from remit.cli.folded import Folded, fold_log
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, say
from remit.cli.submit import SECONDS
from remit.cli.telling import told
from remit.cli.tenants import tenant_of, tenant_option
from remit.cli.waiting import WORDS, item_of, item_of_task
from remit.client.effects import TIMEOUT_S
from remit.client.resolving import RETRY, Seen, resolve, workflow_of
from remit.errors import RefusedError
from remit.events.transitions import Transition

if TYPE_CHECKING:
    from supervisor.inbox import Item

DIGITS = Decimal("0.000001")
MOST_MINUTES = 1_000_000


class _Minutes(click.ParamType[Decimal]):
    """A person's time, as a decimal number."""

    name = "minutes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:  # noqa: ANN401 - click's
        try:
            found = Decimal(value)
        except InvalidOperation:
            self.fail(f"{value} is no number of minutes", param, ctx)
        if not found.is_finite() or not 0 <= found <= MOST_MINUTES:
            self.fail(f"must lie between 0 and {MOST_MINUTES}", param, ctx)
        return found.quantize(DIGITS)


reason_option = click.option("--reason", required=True, help="Why, for the record.")
minutes_option = click.option(
    "--minutes", type=_Minutes(), metavar="NUMBER", help="How long it took you: people's time is priced."
)
timeout_option = click.option(
    "--timeout", type=SECONDS, default=TIMEOUT_S, show_default=True, help="Seconds to wait for the answer."
)


@click.command("resolve")
@click.argument("item_id", metavar="ITEM")
@click.option("--retry", "retries", is_flag=True, help="Let the task be tried once more; what was spent stays spent.")
@click.option("--stop", "stops", is_flag=True, help="End the task, and what needs it.")
@click.option("--approve", "approves", is_flag=True, help="Let the amended contract hold.")
@click.option("--refuse", "refuses", is_flag=True, help="Leave the contract as it is.")
@reason_option
@minutes_option
@timeout_option
@tenant_option
@json_option
@pass_invocation
def resolve_(
    invocation: Invocation,
    /,
    *,
    item_id: str,
    tenant: str | None,
    as_json: bool,
    retries: bool,
    stops: bool,
    approves: bool,
    refuses: bool,
    **said: Any,  # noqa: ANN401 - reason, minutes and timeout, as their options give them
) -> None:
    """Decide on an item of the inbox: a task by --retry or --stop, an amendment by --approve or --refuse.

    The decision holds for the item as it stands now: if it changed meanwhile, nothing happens. Exit 0: it is done.
    1: refused, with the supervisor's reason. 3: not confirmed in time.
    """
    given = {"retry": retries, "stop": stops, "approve": approves, "refuse": refuses}
    words = [word for word, is_given in given.items() if is_given]
    if len(words) != 1:
        raise click.UsageError("give one of --retry, --stop, --approve and --refuse")
    with one_document(as_json=as_json):
        workflow_id = workflow_of(item_id)
        folded = fold_log(invocation.log, tenant_of(invocation.log, tenant, said["timeout"]), workflow_id)
        item = item_of(folded, item_id)
        found = _decide(invocation, folded, item, words[0], said)
    _answer(item, words[0], found, as_json=as_json)


@click.command()
@click.argument("workflow_id", metavar="WORKFLOW")
@click.argument("task_id", metavar="TASK")
@reason_option
@minutes_option
@timeout_option
@tenant_option
@json_option
@pass_invocation
def retry(
    invocation: Invocation,
    /,
    *,
    workflow_id: str,
    task_id: str,
    tenant: str | None,
    as_json: bool,
    **said: Any,  # noqa: ANN401 - reason, minutes and timeout, as their options give them
) -> None:
    """Let a task that waits for a person be tried once more: its open item is resolved with --retry.

    Exit 0: it is queued again. 1: refused, or nothing of it waits for anybody. 3: not confirmed in time.
    """
    with one_document(as_json=as_json):
        folded = fold_log(invocation.log, tenant_of(invocation.log, tenant, said["timeout"]), workflow_id)
        item = item_of_task(folded, task_id)
        found = _decide(invocation, folded, item, RETRY, said)
    _answer(item, RETRY, found, as_json=as_json)


def _decide(invocation: Invocation, folded: Folded, item: "Item", word: str, said: dict[str, Any]) -> Transition:
    if word not in WORDS[item.kind]:
        raise RefusedError(f"{item.item_id} is of kind {item.kind}: decide by --{' or --'.join(WORDS[item.kind])}")
    workflow = folded.workflow
    seen = Seen(
        tenant_id=workflow.tenant_id,
        workflow_id=workflow.workflow_id,
        item_id=item.item_id,
        content_sha256=item.content_sha256,
        state_version=workflow.version,
        task_id=item.task_id,
    )
    return resolve(invocation.log, seen, word, **said)


def _answer(item: "Item", word: str, found: Transition, *, as_json: bool) -> None:
    if as_json:
        answer = {"outcome": "decided", "item_id": item.item_id, "resolution": word, "task_id": item.task_id}
        print_json(answer | {"sequence": found.sequence, "version": found.version, "kind": found.kind.value})
    else:
        say(f"item {item.item_id} is decided: {told(found) or found.kind.value}")
