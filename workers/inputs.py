"""Brings an attempt's inputs to files: the workspace at its exact revision, artefacts by verified hash, values as JSON.

Only this role imports it.
"""

import logging
from pathlib import Path
from urllib.parse import quote

from remit.errors import ArtefactError, WorkspaceError
from remit.events.base import ArtefactRef, InputVersion
from remit.subjects import git_subject

from .git import git
from .job import Bench, Job

log = logging.getLogger("remit.worker")


def bring(job: Job, bench: Bench) -> dict[str, Path]:
    """Make the workspace and the input files; returns where each input lies, those outside our reach left out.

    Raises WorkspaceError or ArtefactError.
    """
    base = job.base
    if base is None:
        job.ground.workspace.mkdir()
    found: dict[str, Path] = {}
    for each in job.offer.inputs:
        place = job.ground.workspace if each is base else job.ground.inputs / _file_name(each.name)
        if _bring_one(each, place, job, bench):
            found[each.name] = place
    return found


def _bring_one(each: InputVersion, place: Path, job: Job, bench: Bench) -> bool:
    if each.kind == "git":
        _check_out(each, place, job, bench)
    elif each.kind == "artefact":
        place.write_bytes(bench.store.get(each.sha256 or each.reference))
    elif each.value is not None:
        place.write_text(each.value, encoding="utf-8")
    else:
        return False
    return True


def _check_out(each: InputVersion, place: Path, job: Job, bench: Bench) -> None:
    subject = git_subject(each.reference)
    if subject is None or subject.revision is None or each.location is None:
        raise WorkspaceError(f"input {each.name} names no repository of this policy at a full commit")
    repository = bench.repository(each.location)
    repository.fetch(subject.revision)
    repository.check_out(subject.revision, place)
    git(place, "config", "user.name", bench.config.worker_id)
    git(place, "config", "user.email", f"{quote(bench.config.worker_id)}@worker.invalid")
    _add_hooks(place, trailers(job))


def trailers(job: Job) -> dict[str, str]:
    """What each commit of the attempt says of where it comes from."""
    return {"Remit-Task": job.dispatch.task_id, "Remit-Attempt": str(job.dispatch.attempt_id)}


def other_commits(job: Job) -> tuple[str, ...]:
    """The commits of the git inputs beside the workspace's own."""
    others = (git_subject(each.reference) for each in job.offer.inputs if each.kind == "git" and each is not job.base)
    return tuple(each.revision for each in others if each is not None and each.revision is not None)


def _add_hooks(workspace: Path, wanted: dict[str, str]) -> None:
    """Let git add the trailers as the worker commits, so that its commits need no rewriting."""
    words = " ".join(f"--trailer '{name}: {value}'" for name, value in wanted.items())
    script = f'#!/bin/sh\nexec git interpret-trailers --in-place --if-exists addIfDifferent {words} "$1"\n'
    for name in ("prepare-commit-msg", "applypatch-msg"):
        hook = workspace / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(script, encoding="utf-8")
        hook.chmod(0o755)


def evidence_files(job: Job, bench: Bench) -> dict[str, Path]:
    """The stored outputs and reports of the failing evidence, as files by SHA-256."""
    refs = [ref for each in job.offer.rework for ref in (each.output, each.report) if ref is not None]
    return {ref.sha256: _evidence_file(ref, job, bench) for ref in refs}


def _evidence_file(ref: ArtefactRef, job: Job, bench: Bench) -> Path:
    place = job.ground.inputs / f"evidence-{ref.sha256[:16]}"
    place.write_bytes(bench.store.get(ref))
    return place


def resumed(job: Job, bench: Bench) -> Path | None:
    """The checkpoint of a lost attempt as a file, its bytes verified; None where there is none that can be read."""
    reference = job.offer.resume_from
    if reference is None:
        return None
    try:
        job.ground.resumed.write_bytes(bench.store.get(reference))
    except ArtefactError as error:  # it is a help, nothing that the work needs
        log.warning("attempt %s begins anew, its checkpoint can't be read: %s", job.dispatch.attempt_id, error)
        return None
    return job.ground.resumed


def _file_name(name: str) -> str:
    return quote(name, safe="") if name.strip(".") else f"input{len(name)}"
