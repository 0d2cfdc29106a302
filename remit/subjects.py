"""What evidence speaks of: the one way in which runner and supervisor name a subject. Pure; anyone may import it.

A storage format: the digest of inputs must come out the same for ever.
"""

from collections.abc import Iterable

import msgspec

from remit.contract.references import is_full_commit, parse_reference
from remit.events.base import InputVersion, Subject, SubjectKind
from remit.ids import digest

GIT = "git"


def git_subject(reference: str) -> Subject | None:
    """The subject of a resolved `repo://NAME@commit:HEX`; None for anything else, short hashes included."""
    found = parse_reference(reference)
    if found is None or found.kind != "repo" or not is_full_commit(found.detail):
        return None
    return Subject(kind=SubjectKind.GIT, repository=found.name, revision=found.detail)


def inputs_subject(inputs: Iterable[InputVersion]) -> Subject:
    """The subject of a task without a repository: a digest over its inputs as they were handed out."""
    return Subject(kind=SubjectKind.INPUTS, digest=digest({each.name: msgspec.to_builtins(each) for each in inputs}))


def git_input(inputs: Iterable[InputVersion]) -> InputVersion | None:
    """The input that a task's workspace is made of: its first git one."""
    return next((each for each in inputs if each.kind == GIT), None)


def subject_of(inputs: tuple[InputVersion, ...]) -> Subject:
    """The subject of a task that makes no revision: that of its git input, else its inputs together."""
    found = git_input(inputs)
    return (git_subject(found.reference) if found else None) or inputs_subject(inputs)
