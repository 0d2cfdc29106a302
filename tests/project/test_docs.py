"""The reference pages: their examples pass the gate, and they name every field that the code has, and no other."""

import os
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from remit import documents
from remit.cli.entry import run
from remit.contract.amend import amend
from remit.contract.file import (
    Constraints,
    ContractLimits,
    EffectModel,
    PermissionsModel,
    TaskContractFile,
    TaskEnvelopeFile,
    TaskModel,
    WorkflowFile,
)
from remit.contract.gate import normalise
from remit.events.inputs import BlockedReason, ErrorClass, ResultStatus
from remit.events.transitions import Recovery
from remit.policy import load
from remit.policy.model import (
    CheckModel,
    CommandModel,
    LimitsModel,
    Policy,
    PolicyLimits,
    Pool,
    Price,
    Prices,
    TaskType,
    Timeouts,
)
from remit.result import classify, read_envelope
from remit.result.envelope import Envelope as WorkerEnvelope
from remit.result.envelope import EvidenceSubject, FileOutput, StoredOutput, WorkerEvidence, WorkerUsage
from remit.sdk.registration import load as load_handler
from remit.sdk.registration import registration_of
from supervisor.recovery import DISAGREED, LOST, REASSIGNED, Counts, Failure, verdict
from tests.workers import rig
from workers.config import WorkerConfig
from workers.dispatch_file import dispatch_document
from workers.job import Ground, Job

DOCS = Path(__file__).parents[2] / "docs"
NOW = datetime(2026, 7, 1, tzinfo=UTC)
CONTRACTS, WORKERS = (DOCS.joinpath(f"{name}.md").read_text("utf-8") for name in ("contracts", "workers"))

CONTRACT_FIELDS: dict[str, tuple[type[BaseModel], ...]] = {
    "Workflow file": (WorkflowFile, Constraints, EffectModel),
    "Tasks": (TaskModel,),
    "Permissions": (PermissionsModel,),
    "Requirements and checks": (CheckModel, CommandModel),
    "Limits": (ContractLimits,),
    "One task: bare contract and envelope": (TaskContractFile, TaskEnvelopeFile),
    "Policy file": (Policy, Pool, TaskType, Price, Prices, PolicyLimits, Timeouts),
}
WORKER_FIELDS: dict[str, tuple[type[BaseModel], ...]] = {
    "The envelope": (WorkerEnvelope, WorkerEvidence, WorkerUsage, FileOutput, StoredOutput, EvidenceSubject),
    "Configuration": (WorkerConfig,),
}


def section(page: str, title: str) -> str:
    """What stands under a heading, down to the next one."""
    found = re.search(rf"^#+ {re.escape(title)}$(.*?)(?=^#|\Z)", page, flags=re.MULTILINE | re.DOTALL)
    assert found, f"no section {title}"
    return found[1]


def blocks(page: str, mark: str) -> list[str]:
    """The marked examples of a page, in order."""
    return re.findall(rf"^```\w+ {mark}\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)


def spans(text: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", text))


def tables(text: str) -> list[list[list[str]]]:
    """The tables of a text: rows of cells, the head first."""
    found = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    rows = [[[cell.strip() for cell in line[1:-1].split("|")] for line in each.splitlines()] for each in found]
    return [[table[0], *table[2:]] for table in rows]


def first_cells(text: str, heads: set[str]) -> set[str]:
    """What the first column names, in the tables whose head is one of these."""
    return {span for table in tables(text) if table[0][0] in heads for row in table[1:] for span in spans(row[0])}


def checked(text: str, folder: Path) -> int:
    file = folder / "contract.yaml"
    file.write_text(text, encoding="utf-8")
    return run(["check", str(file), "--at", "2026-07-01T00:00:00Z"])


@pytest.mark.parametrize("text", blocks(CONTRACTS, "workflow"))
def test_the_examples_pass_the_gate(text: str, tmp_path: Path) -> None:
    """`remit check` finds no fault in what the page calls a contract."""
    assert checked(text, tmp_path) == 0


def test_there_are_examples_to_check() -> None:
    """The marks are read as they are written: no test above or below passes for want of an example."""
    counts = [len(blocks(CONTRACTS, mark)) for mark in ("workflow", "refused", "faults", "draft")]
    assert counts == [5, 1, 1, 2]
    assert len(blocks(WORKERS, "handler")) == 2


def test_the_refused_example_is_answered_as_the_page_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Line by line, and exit status 2."""
    assert checked(blocks(CONTRACTS, "refused")[0], tmp_path) == 2
    assert capsys.readouterr().err == blocks(CONTRACTS, "faults")[0]


def test_the_drafted_version_only_tightens() -> None:
    """The draft of the page, laid over the example with a `contract` output, is adopted."""
    policy = load.parse(load.default_text())
    text = next(each for each in blocks(CONTRACTS, "workflow") if "next: contract" in each)
    resolved = text.replace("@main", f"@commit:{'a' * 40}")
    current = normalise(documents.parse(resolved, is_json=False), policy, now=NOW, resolved=True)
    draft = documents.parse(blocks(CONTRACTS, "draft")[0], is_json=False)
    amended = amend(current, draft, policy, now=NOW)
    assert len(amended.requirements) == len(current.requirements) + 1


@pytest.mark.parametrize(("title", "models"), CONTRACT_FIELDS.items())
def test_every_field_of_contracts_and_policies_is_named(title: str, models: tuple[type[BaseModel], ...]) -> None:
    """In the section of its model; and the section's field column names nothing that is no field."""
    _same_fields(section(CONTRACTS, title), models)


@pytest.mark.parametrize(("title", "models"), WORKER_FIELDS.items())
def test_every_field_of_envelope_and_configuration_is_named(title: str, models: tuple[type[BaseModel], ...]) -> None:
    """In the section of its model; and the section's field column names nothing that is no field."""
    _same_fields(section(WORKERS, title), models)


def _same_fields(text: str, models: tuple[type[BaseModel], ...]) -> None:
    fields = {field for model in models for field in model.model_fields}
    assert fields - spans(text) == set()
    assert first_cells(text, {"field", "key", "limit", "timeout"}) - fields == set()


def test_a_policy_names_all_limits_that_a_contract_has() -> None:
    """As the page says: the policy's limits are the contract's without `deadline`."""
    assert set(ContractLimits.model_fields) - set(LimitsModel.model_fields) == {"deadline"}


def test_the_timeouts_have_the_defaults_that_the_page_says() -> None:
    """Each wait with its seconds."""
    table = next(each for each in tables(section(CONTRACTS, "Policy file")) if each[0][0] == "timeout")
    assert {row[0].strip("`"): int(row[1]) for row in table[1:]} == Timeouts().model_dump()


def test_every_field_of_the_dispatch_is_named(tmp_path: Path) -> None:
    """Those that the runner writes, and no other; those of an input too."""
    text = section(WORKERS, "The dispatch")
    document = _dispatch(tmp_path)
    assert first_cells(text, {"field"}) == set(document)
    assert set(document["inputs"]["repository"]) - spans(text) == set()
    assert set(document["remaining"]) - spans(text) == set()
    assert document["schema_version"] in spans(text)


def _dispatch(folder: Path) -> dict[str, Any]:
    given = rig.handout()
    dispatch = rig.offer_of(given, (rig.git_input(folder, "a" * 40),))
    assert dispatch.offer is not None
    job = Job(dispatch, dispatch.offer, given, Ground(folder), 0.0)
    return dispatch_document(job, {}, {}, NOW, None)


def test_the_python_handler_can_be_run(tmp_path: Path) -> None:
    """It imports, and is marked for a capability."""
    file = tmp_path / "handler_of_the_docs.py"
    file.write_text(blocks(WORKERS, "handler")[1], encoding="utf-8")
    said = registration_of(load_handler(f"{file.name}:count", tmp_path))
    assert said is not None
    assert said.capability == "shell"


def test_the_shell_handler_leaves_what_the_page_says(tmp_path: Path) -> None:
    """A whole envelope, usage that is read, and the output under its name."""
    out = tmp_path / "out"
    out.mkdir()
    names = {"OUT": out, "WORKSPACE": tmp_path, "RESULT": out / "result.json", "USAGE": out / "usage.json"}
    environment = {"PATH": os.environ["PATH"]} | {f"REMIT_{name}": str(path) for name, path in names.items()}
    script = tmp_path / "count.sh"
    script.write_text(blocks(WORKERS, "handler")[0], encoding="utf-8")
    subprocess.run(["sh", str(script)], env=environment, check=True)  # noqa: S607
    assert read_envelope(names["RESULT"].read_bytes()).status == "completed"
    assert WorkerUsage.model_validate_json(names["USAGE"].read_bytes()).tool_calls == 1
    assert (out / "report").read_text().strip() == "2"


def _ladder() -> list[list[str]]:
    return tables(section(WORKERS, "What follows"))[0][1:]


def _rows() -> list[tuple[str, str, str]]:
    """Outcome, error class and what follows of each row that speaks of one outcome."""
    named = [row for row in _ladder() if row[1] not in {"", "any"}]
    return [(row[1].strip("`"), row[2].strip("`"), next(iter(re.findall("`([^`]+)`", row[3])))) for row in named]


@pytest.mark.parametrize(("outcome", "error_class", "follows"), _rows())
def test_what_follows_is_as_the_recovery_table_says(outcome: str, error_class: str, follows: str) -> None:
    """Recovery, and the reason for the owner, with attempts to spare."""
    failure = Failure(ErrorClass(error_class), outcome)
    found = verdict(failure, Counts(attempts=1, max_attempts=3), Timeouts(), now=NOW, cause=UUID(int=1))
    assert follows == ": ".join(filter(None, (found.recovery.value, found.reason)))


def test_the_order_of_the_rows_is_the_order_of_the_rules() -> None:
    """In the last attempt, rows above that line keep their answer, rows below it end with `attempts_exhausted`."""
    spent = next(number for number, row in enumerate(_ladder()) if "attempts_exhausted" in row[3])
    for number, row in enumerate(_ladder()):
        if row[1] not in {"", "any"}:
            failure = Failure(ErrorClass(row[2].strip("`")), row[1].strip("`"))
            found = verdict(failure, Counts(attempts=3, max_attempts=3), Timeouts(), now=NOW, cause=UUID(int=1))
            assert (found.reason == "attempts_exhausted") is (number > spent), row


def test_a_reproducible_defect_comes_first() -> None:
    """Whatever else holds but a severe finding, it goes upstream, and to the owner once its rounds are used up."""
    row = next(row for row in _ladder() if row[0].startswith("a reproducible defect"))
    failure = Failure(ErrorClass.PERMANENT_FAILED, "failed", reproducible=True)
    for reworks, recovery in ((0, Recovery.REWORK), (2, Recovery.ESCALATE)):
        counts = Counts(attempts=3, max_attempts=3, rework_task="fix", reworks=reworks, max_reworks=2)
        found = verdict(failure, counts, Timeouts(), now=NOW, cause=UUID(int=1))
        assert found.recovery is recovery
        assert ": ".join(filter(None, (recovery.value, found.reason))) in spans(row[3])


def test_a_severe_finding_comes_before_any_rework() -> None:
    """A person weighs it, however often it may still be mended."""
    row = next(row for row in _ladder() if "severity" in row[0])
    failure = Failure(ErrorClass.RETRYABLE_FAILED, "refused", reproducible=True, severe=True)
    found = verdict(failure, Counts(1, 3, "fix", 0, 2), Timeouts(), now=NOW, cause=UUID(int=1))
    assert f"{found.recovery.value}: {found.reason}" in spans(row[3])


def test_every_status_stands_in_the_table_with_its_class() -> None:
    """Each status with each class that it may have, each blocked reason with its own."""
    told = {(outcome, error_class) for outcome, error_class, _ in _rows()}
    for status in (ResultStatus.FAILED, ResultStatus.NEEDS_REVIEW):
        for error_class in ErrorClass:
            is_allowed = classify(status, None, error_class) is not None
            assert ((status.value, error_class.value) in told) is is_allowed
    for reason in set(BlockedReason) - {BlockedReason.UNKNOWN}:
        assert (f"blocked:{reason.value}", classify(ResultStatus.BLOCKED, reason)) in told
    outcomes = {outcome for outcome, _ in told}
    assert {*LOST, *REASSIGNED, DISAGREED, "deadline", "refused", "malformed"} - outcomes == set()


def test_the_pages_name_only_each_other_and_pages_that_exist() -> None:
    """No dead link, and no dead anchor within the two pages."""
    pages = {"contracts.md": CONTRACTS, "workers.md": WORKERS}
    for name, page in pages.items():
        for target in re.findall(r"\]\(([^)]+)\)", page):
            file, _, anchor = target.partition("#")
            assert (DOCS / (file or name)).is_file(), target
            headings = re.findall(r"^#+ (.+)$", pages.get(file or name, ""), flags=re.MULTILINE)
            assert not anchor or anchor in {
                re.sub(r"[^a-z0-9 -]", "", each.lower()).replace(" ", "-") for each in headings
            }
