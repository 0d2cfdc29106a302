"""Answers one question by looking at the artefact store or a repository. Errors become verdicts, never exceptions."""

from collections.abc import Callable

from remit.artefacts import ArtefactStore
from remit.documents import parse_value
from remit.errors import ArtefactError, ArtefactMismatchError, ArtefactMissingError, ContractInvalidError
from remit.events.inputs import Answer, Question, QuestionKind, Verdict
from remit.redaction import finds

from . import git

MAX_OUTPUT_BYTES = 64 * 1024
Found = tuple[Verdict, tuple[str, ...], str | None]


def answer(question: Question, store: ArtefactStore) -> Answer:
    """Look, and say what was found."""
    verdict, found, content = _look(question, store)
    return Answer(
        question_id=question.id,
        kind=question.kind,
        verdict=verdict,
        expected=question.expected,
        found=found,
        content=content,
    )


def _look(question: Question, store: ArtefactStore) -> Found:
    if question.kind in GIT:
        verdict, found = GIT[question.kind](question.location or question.reference, question.expected)
        return verdict, found, None
    try:
        data = store.get(question.expected[0])
    except ArtefactMissingError:
        return Verdict.MISSING, (), None
    except ArtefactMismatchError as error:
        return Verdict.MISMATCH, (str(error),), None
    except (ArtefactError, OSError) as error:
        return Verdict.UNREACHABLE, (type(error).__name__,), None
    return _stored(question, data)


def _stored(question: Question, data: bytes) -> Found:
    if question.size is not None and question.size != len(data):
        return Verdict.MISMATCH, (f"{len(data)} bytes",), None
    if question.kind is QuestionKind.SECRETS:
        rules = finds(data.decode("utf-8", errors="replace"))
        return (Verdict.MISMATCH, tuple(rules), None) if rules else (Verdict.MATCH, (), None)
    if question.kind is QuestionKind.OUTPUT:
        return _output(data)
    return Verdict.MATCH, (), None


def _output(data: bytes) -> Found:
    if len(data) > MAX_OUTPUT_BYTES:
        return Verdict.MISMATCH, (f"{len(data)} bytes, at most {MAX_OUTPUT_BYTES}",), None
    try:
        parse_value(data)
    except ContractInvalidError:
        return Verdict.MISMATCH, ("not JSON that can be read",), None
    return Verdict.MATCH, (), data.decode("utf-8-sig")


GIT: dict[QuestionKind, Callable[[str, tuple[str, ...]], tuple[Verdict, tuple[str, ...]]]] = {
    QuestionKind.COMMIT: git.commit_exists,
    QuestionKind.DESCENDS: git.descends,
    QuestionKind.PATHS: git.touches_only,
}
