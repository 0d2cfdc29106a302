"""A result against the offer it answers: hashes, inputs, what a completed one must have, versions asked for. Pure."""

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from remit.contract.normal import Workflow as Contract
from remit.contract.normal import task_hash
from remit.contract.references import artefact_reference
from remit.errors import EnvelopeInvalidError
from remit.events.base import ArtefactRef, InputVersion
from remit.events.inputs import Result, ResultBody, ResultStatus
from remit.result.classify import allowed
from remit.result.subtasks import read_subtasks

from ..limits import plausible
from ..state import Attempt

MAX_RESULT_BYTES = 768 * 1024
"""As JSON. A transition embeds the result and must fit into a record of 2 MiB; our own workers keep to less."""
VERSIONED = ("language", "framework")


def envelope_faults(body: ResultBody) -> list[str]:
    """What keeps the envelope from being judged at all; empty when nothing does."""
    faults = []
    if body.status is ResultStatus.BLOCKED and body.blocked_reason is None:
        faults.append("blocked_reason is required with status blocked")
    elif body.error_class not in allowed(body.status, body.blocked_reason):
        faults.append("error_class does not go with status and blocked_reason")
    if body.usage is not None and not plausible(body.usage):
        faults.append("usage is out of range")
    if any(each.reference != artefact_reference(each.sha256) for each in artefacts(body)):
        faults.append("an artefact's reference and sha256 differ")
    if (body.output is None) == (body.artefact_ref is None) and body.status is ResultStatus.COMPLETED:
        faults.append("exactly one of output and artefact_ref is required")
    return faults + _subtask_faults(body)


def _subtask_faults(body: ResultBody) -> list[str]:
    if body.subtasks is None:
        return []
    if body.status is not ResultStatus.COMPLETED:
        return ["subtasks go with status completed, and with no other"]
    try:
        read_subtasks(body.subtasks)
    except EnvelopeInvalidError as error:
        return list(error.faults)
    return []


def evidence_fault(contract: Contract, task_id: str, body: ResultBody) -> str | None:
    """That a completed result brings no evidence at all, though the task's contract has checks."""
    lacks = body.status is ResultStatus.COMPLETED and not body.evidence and contract.checks_of(task_id)
    return "evidence is missing: a completed result must bring some" if lacks else None


def size_fault(body: ResultBody) -> str | None:
    """That the result is too large to be embedded in a transition, with size and limit."""
    size = len(msgspec.json.encode(body))
    if size <= MAX_RESULT_BYTES:
        return None
    return f"the result has {size} bytes, at most {MAX_RESULT_BYTES}: hand over long outputs and evidence as artefacts"


def artefacts(body: ResultBody) -> list[ArtefactRef]:
    """Every stored object that the envelope itself names."""
    named = [each for evidence in body.evidence for each in (evidence.output, evidence.report)]
    return [each for each in (*named, body.log, body.artefact_ref) if each is not None]


def foreign_parts(attempt: Attempt, result: Result) -> tuple[str, ...]:
    """Why the result can't come from the attempt that it names; empty when it can."""
    differs = []
    if result.fencing_token != attempt.token:
        differs.append(f"fencing_token: has {result.fencing_token}, the attempt's is {attempt.token}")
    if (result.worker_id, result.incarnation) != (attempt.worker_id, attempt.incarnation):
        differs.append("worker_id: the attempt was given to another worker or worker process")
    return tuple(differs)


def stale_parts(
    contract: Contract, task_id: str, attempt: Attempt, result: Result, body: ResultBody
) -> tuple[str, ...]:
    """What differs now from what the result was made on: contract, inputs."""
    differs = []
    if not result.contract_sha256 == attempt.contract_sha256 == task_hash(contract, task_id):
        differs.append("contract_sha256: not that of the task's contract")
    differs += [
        f"input {each.name}: not the version handed out"
        for each in attempt.inputs
        if _key(each) not in {_key(used) for used in body.input_versions}
    ]
    return tuple(differs)


def _key(version: InputVersion) -> tuple[str, str, str | None]:
    return (version.name, version.reference, version.sha256)


def version_faults(contract: Contract, environment: dict[str, str]) -> list[str]:
    """Versions that the contract asks for and the runner did not find."""
    asked = [(key, contract.constraints[key]) for key in VERSIONED if key in contract.constraints]
    return [fault for key, text in asked if (fault := _constraint_fault(key, text, environment))]


def _constraint_fault(key: str, text: str, environment: dict[str, str]) -> str | None:
    name, _, wanted = text.strip().partition(" ")
    found = environment.get(name.lower())
    if found is None:
        return f"constraints.{key}: the runner recorded no {name}"
    if wanted and not version_fits(found, wanted.strip()):
        return f"constraints.{key}: the runner found {name} {found}, the contract asks for {wanted.strip()}"
    return None


def version_fits(found: str, wanted: str) -> bool:
    """Whether version `found` meets `wanted`: a specifier such as `>=3.11`, or a bare version as a prefix."""
    specifier = wanted if wanted[0] in "<>=!~" else f"=={wanted}.*"
    try:
        return SpecifierSet(specifier).contains(Version(found), prereleases=True)
    except ValueError:  # no specifier, no version, or a number in one that is too long to read
        return False
