"""What the inspector must find out about a result: hashes, secrets, git facts. Pure."""

from collections.abc import Iterable

from remit.contract.normal import TaskContract
from remit.events.base import ArtefactRef, InputVersion
from remit.events.inputs import Question, QuestionKind, ResultBody
from remit.events.transitions import AcceptedOutput
from remit.subjects import git_input

from ..dataflow import split_repository_reference
from .envelope import artefacts


def questions(
    task: TaskContract, inputs: tuple[InputVersion, ...], body: ResultBody, outputs: tuple[AcceptedOutput, ...]
) -> tuple[Question, ...]:
    """All questions about one result, numbered; none when it refers to nothing outside itself."""
    asked = [
        *_stored_output(body),
        *_about_artefacts(_artefacts(body, outputs)),
        *_about_commits(task, inputs, outputs),
    ]
    return tuple(
        Question(id=f"q{n}", kind=kind, reference=reference, location=location, expected=expected, size=size)
        for n, (kind, reference, location, expected, size) in enumerate(asked, start=1)
    )


_Asked = tuple[QuestionKind, str, str | None, tuple[str, ...], int | None]


def _artefacts(body: ResultBody, outputs: tuple[AcceptedOutput, ...]) -> list[ArtefactRef]:
    stored = [output.artefact for output in outputs if output.artefact is not None]
    return list({(each.sha256, each.size): each for each in (*artefacts(body), *stored)}.values())


def _about_artefacts(artefacts: Iterable[ArtefactRef]) -> list[_Asked]:
    return [
        (kind, each.reference, None, (each.sha256,), each.size)
        for each in artefacts
        for kind in (QuestionKind.ARTEFACT, QuestionKind.SECRETS)
    ]


def _stored_output(body: ResultBody) -> list[_Asked]:
    ref = body.artefact_ref
    return [] if ref is None else [(QuestionKind.OUTPUT, ref.reference, None, (ref.sha256,), ref.size)]


def _about_commits(
    task: TaskContract, inputs: tuple[InputVersion, ...], outputs: tuple[AcceptedOutput, ...]
) -> list[_Asked]:
    base = git_input(inputs)
    if base is None:
        return []
    repository, start = split_repository_reference(base.reference)
    made = [each.subject.revision for each in outputs if each.subject is not None and each.subject.revision]
    return [
        (kind, repository, base.location, expected, None)
        for revision in made
        for kind, expected in (
            (QuestionKind.COMMIT, (revision,)),
            (QuestionKind.DESCENDS, (revision, start)),
            (QuestionKind.PATHS, (revision, start, *task.permissions.paths)),
        )
    ]
