"""Builds the normal form of a filled file that has no fault. Pure; only the gate imports it."""

from typing import Any

from remit.contract import normal
from remit.contract.filled import Filled, Task
from remit.contract.limits import task_limits, workflow_limits
from remit.contract.references import Reference, artefact_reference, parse_reference, repo_reference
from remit.contract.requirements import Wanted, checks_of, commands_of, holds_at, slugs, wanted
from remit.ids import canonical_json
from remit.policy.model import CommandModel

_KINDS = {"repo": "git", "artefact": "artefact", "alias": "artefact", "file": "artefact", "task": "task"}


def build(filled: Filled, workflow_id: str, tenant_id: str, workflow_type: str) -> normal.Workflow:
    """The normal form; `filled` must have passed every rule."""
    file, limits = filled.file, workflow_limits(filled)
    requirements = _requirements(filled)
    return normal.Workflow(
        tenant_id=tenant_id,
        workflow_id=workflow_id,
        workflow_type=workflow_type,
        owner=file.owner or filled.policy.default_owner,
        objective=file.objective,
        data_classification=file.data_classification,
        constraints=file.constraints.model_dump(include={"language", "framework"}, exclude_none=True),
        inputs={name: _input(filled, text) for name, text in file.inputs.items()},
        requirements=requirements,
        commands=_commands(filled, requirements),
        limits=limits,
        effects=tuple(normal.Effect(**effect.model_dump()) for effect in file.effects),
        tasks={task.id: _task(filled, task, limits) for task in filled.tasks.values()},
    )


def _input(filled: Filled, text: str) -> normal.Input:
    found = parse_reference(text, filled.policy.reference_schemes)
    if found and found.kind == "input":
        return _input(filled, filled.file.inputs[found.name])
    if found is None:
        raise ValueError("a reference without a known form passed the gate")
    return normal.Input(
        reference=_canonical(found, text),
        kind=_KINDS.get(found.kind, "external"),
        sha256=found.detail if found.kind == "artefact" else None,
        location=filled.policy.repositories[found.name] if found.kind == "repo" else None,
    )


def _canonical(found: Reference, text: str) -> str:
    if found.kind == "repo" and found.is_resolved:
        return repo_reference(found.name, found.detail)
    return artefact_reference(found.detail) if found.kind == "artefact" else text


def _requirements(filled: Filled) -> tuple[normal.Requirement, ...]:
    found = list(wanted(filled))
    ids = slugs([requirement.text for requirement in found])
    return tuple(_requirement(filled, one, id_) for one, id_ in zip(found, ids, strict=True))


def _requirement(filled: Filled, requirement: Wanted, id_: str) -> normal.Requirement:
    return normal.Requirement(
        id=id_,
        text=requirement.text,
        source=requirement.source,
        mandatory=True,
        security=requirement.source == "security",
        checks=tuple(_check(filled, check.model, check.task) for check in checks_of(filled, requirement)),
        task=requirement.task,
    )


def _check(filled: Filled, model: Any, task_id: str | None) -> normal.Check:  # noqa: ANN401
    if task_id is None:
        raise ValueError("a check without a task passed the gate")
    return normal.Check(
        id=model.id,
        kind=normal.EvidenceKind(model.kind),
        task=task_id,
        holds_at=normal.HoldsAt(holds_at(filled, model, task_id)),
        command=model.command,
        cases=tuple(model.cases),
        output=model.output,
    )


def _commands(filled: Filled, requirements: tuple[normal.Requirement, ...]) -> dict[str, normal.Command]:
    """The file's command lines and those of the policy that a check names."""
    named = {check.command for requirement in requirements for check in requirement.checks}
    known = commands_of(filled)
    return {name: command(model) for name, model in known.items() if name in named or name in filled.file.commands}


def command(model: CommandModel) -> normal.Command:
    """The normal form of a command line."""
    return normal.Command(
        argv=tuple(model.argv),
        report=normal.ReportFormat(model.report) if model.report else None,
        retest=tuple(model.retest) if model.retest is not None else None,
    )


def _task(filled: Filled, task: Task, limits: normal.Limits) -> normal.TaskContract:
    if task.pool_name is None:
        raise ValueError("a task without a pool passed the gate")
    return normal.TaskContract(
        task_id=task.id,
        task_type=task.own.task_type,
        capability=task.capability,
        pool=task.pool_name,
        objective=task.own.objective or (task.type.objective if task.type else None) or filled.file.objective,
        depends_on=tuple(task.own.depends_on),
        inputs={name: _input(filled, text) for name, text in task.own.inputs.items()},
        outputs={name: normal.OutputKind(kind) for name, kind in task.outputs.items()},
        permissions=normal.Permissions(grants=task.grants, paths=tuple(task.own.permissions.paths)),
        tools=tuple(task.tools),
        limits=task_limits(filled, task, limits),
        risk_class=task.risk_class,
        output_schema=_output_schema(filled, task),
        rework=task.own.rework or filled.revision_source(task.id),
        spawn=_spawn(task, limits),
    )


def _spawn(task: Task, limits: normal.Limits) -> normal.SpawnPlan | None:
    plan, whole = task.spawn, limits.max_cost_gbp
    if plan is None:
        return None
    cost = plan.max_cost_gbp
    if cost is not None and whole is not None:
        cost = min(cost, whole)  # a type's plan knows no workflow
    return normal.SpawnPlan(types=tuple(plan.types), max_subtasks=plan.max_subtasks, max_cost_gbp=cost)


def _output_schema(filled: Filled, task: Task) -> normal.OutputSchema | None:
    name = task.output_schema
    if name is None:
        return None
    schema = filled.file.output_schemas.get(name) or filled.policy.output_schemas[name]
    return normal.OutputSchema(name=name, text=canonical_json(schema).decode())
