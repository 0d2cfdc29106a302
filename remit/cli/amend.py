"""`remit amend`: another version of a workflow's contract, answered by what the supervisor made of it."""

from pathlib import Path
from typing import Any

import click

from remit import documents
from remit.artefacts import ArtefactStore
from remit.cli.answers import one_document
from remit.cli.check import FILE
from remit.cli.folded import fold_log
from remit.cli.invocation import Invocation, pass_invocation
from remit.cli.output import json_option, print_json, say
from remit.cli.submit import SECONDS
from remit.cli.tenants import tenant_of, tenant_option
from remit.client import amending, submission
from remit.client.effects import TIMEOUT_S
from remit.events.transitions import Transition, TransitionKind

OUTCOMES = {TransitionKind.CONTRACT_AMENDED: "amended", TransitionKind.AMENDMENT_PROPOSED: "proposed"}


@click.command()
@click.argument("workflow_id", metavar="WORKFLOW")
@click.argument("file", type=FILE)
@click.option(
    "--base-version", type=click.IntRange(min=1), help="The contract version it was made on; by default the newest."
)
@click.option("--reason", required=True, help="Why, for the record and for whoever decides.")
@click.option("--timeout", type=SECONDS, default=TIMEOUT_S, show_default=True, help="Seconds to wait for the answer.")
@tenant_option
@json_option
@pass_invocation
def amend(
    invocation: Invocation,
    /,
    *,
    workflow_id: str,
    file: Path,
    base_version: int | None,
    tenant: str | None,
    as_json: bool,
    **said: Any,  # noqa: ANN401 - reason and timeout, as their options give them
) -> None:
    """Amend the contract of an open workflow with a workflow file that leaves out whatever stays.

    What only tightens holds at once; what raises, widens, adds or drops waits in the owner's inbox. Exit 0: it holds,
    waits or is known. 1: refused, with the reason. 2: invalid, one line per fault. 3: not confirmed in time.
    """
    with one_document(as_json=as_json):
        document = documents.read(file)
        tenant_id = tenant_of(invocation.log, tenant, said["timeout"])
        workflow = fold_log(invocation.log, tenant_id, workflow_id).workflow
        base = base_version or workflow.contract_version
        rules = submission.newest_policy(invocation.log, workflow_id, timeout=said["timeout"])
        store = ArtefactStore(invocation.settings.artefact_url)
        asked = amending.Asked(tenant_id, workflow_id, base, said["reason"])
        event = amending.prepare(document, asked, rules, store, file.parent)
        found = amending.send(invocation.log, event, timeout=said["timeout"])
    if as_json:
        print_json(_answer(workflow_id, found))
    else:
        _tell(workflow_id, found)


def _answer(workflow_id: str, found: Transition) -> dict[str, Any]:
    contract, proposal = found.contract, found.proposal
    return {
        "outcome": OUTCOMES.get(found.kind, "duplicate"),
        "workflow_id": workflow_id,
        "contract_version": contract.contract_version if contract else None,
        "approved_by": contract.approved_by if contract else None,
        "item_id": proposal.item_id if proposal else None,
        "owner": proposal.owner if proposal else None,
        "widens": list(proposal.widens) if proposal else [],
        "sequence": found.sequence,
        "version": found.version,
    }


def _tell(workflow_id: str, found: Transition) -> None:
    contract, proposal = found.contract, found.proposal
    if proposal is not None:
        say(f"{workflow_id}: the amendment waits for {proposal.owner}, since it widens or drops something:")
        for each in proposal.widens:
            say(f"  {each}")
        say(f"Decide on it: remit resolve {proposal.item_id} --approve|--refuse --reason TEXT")
    elif contract is not None:
        say(f"{workflow_id}: contract version {contract.contract_version} holds, approved by {contract.approved_by}")
    else:
        say(f"{workflow_id}: nothing new, this was said already")
