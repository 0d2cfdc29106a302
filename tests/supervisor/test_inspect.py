"""The inspector looks at artefacts, secrets, stored outputs, commits of a real repository: facts, no verdicts."""

import subprocess
from pathlib import Path
from uuid import uuid5

import pytest

from remit.artefacts import ArtefactStore
from remit.events.base import ArtefactRef
from remit.events.inputs import Answer, Question, QuestionKind, Verdict
from supervisor.inspect.git import GIT
from supervisor.inspect.questions import MAX_OUTPUT_BYTES, answer
from supervisor.step import inspection_id
from tests.supervisor.lab import NAMES


@pytest.fixture
def store(tmp_path: Path) -> ArtefactStore:
    return ArtefactStore(str(tmp_path / "artefacts"))


def ask(store: ArtefactStore, kind: str, ref: ArtefactRef, size: int | None = None) -> tuple[str, str | None]:
    said = {"reference": ref.reference, "expected": (ref.sha256,), "size": ref.size if size is None else size}
    found = answer(Question(id="q1", kind=QuestionKind(kind), **said), store)  # type: ignore[arg-type]
    return found.verdict.value, found.content


def test_bytes_that_are_what_was_said_match(store: ArtefactStore) -> None:
    """Hash and size of what is stored are those that the result named."""
    ref = store.put(b"a report")
    assert ask(store, "artefact", ref) == ("match", None)
    assert ask(store, "artefact", ref, size=3) == ("mismatch", None)


def test_nothing_there_is_missing_and_other_bytes_are_a_mismatch(store: ArtefactStore, tmp_path: Path) -> None:
    """Missing and mismatch are told apart."""
    ref = store.put(b"a report")
    (path,) = [each for each in (tmp_path / "artefacts").rglob("*") if each.is_file()]
    path.write_bytes(b"another")
    assert ask(store, "artefact", ref)[0] == "mismatch"
    path.unlink()
    assert ask(store, "artefact", ref)[0] == "missing"


@pytest.mark.parametrize("sha256", ["", "../../../etc/passwd", "A" * 64, "0" * 63])
def test_a_hash_that_is_none_reads_no_file(store: ArtefactStore, sha256: str) -> None:
    """A worker can't name a path where a hash belongs."""
    ref = ArtefactRef(reference="artefact://sha256/x", sha256=sha256, size=1)
    assert ask(store, "artefact", ref)[0] == "unreachable"


def test_a_secret_is_found_and_never_repeated(store: ArtefactStore) -> None:
    """A secret in stored bytes is a mismatch that names the rule, not the secret."""
    secret = "ghp_" + "a1B2" * 9
    ref = store.put(f"token={secret}".encode())
    said = Question(id="q1", kind=QuestionKind.SECRETS, reference=ref.reference, expected=(ref.sha256,))
    found = answer(said, store)
    assert found.verdict is Verdict.MISMATCH
    assert found.found
    assert secret not in repr(found)
    assert ask(store, "secrets", store.put(b"all fine"))[0] == "match"


def test_a_stored_output_is_read_within_bounds(store: ArtefactStore) -> None:
    """The output's text comes back if it is JSON of a bearable size and depth."""
    assert ask(store, "output", store.put(b'{"a": 1}')) == ("match", '{"a": 1}')
    for data in (b"", b"done", b"[" * 60_000, b'"' + b"x" * MAX_OUTPUT_BYTES + b'"'):
        assert ask(store, "output", store.put(data)) == ("mismatch", None)


# git


def git(folder: Path, *argv: str) -> str:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    argv = (GIT, "-C", str(folder), *who, *argv)
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, *files: str) -> str:
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.read_text() + "x" if path.exists() else "x")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "svc"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


def look(repository: Path, kind: str, *expected: str) -> tuple[str, tuple[str, ...]]:
    said = Question(
        id="q1", kind=QuestionKind(kind), reference="svc", location=str(repository), expected=tuple(expected)
    )
    found = answer(said, ArtefactStore("memory://x"))
    return found.verdict.value, found.found


def test_a_commit_is_there_or_not(repository: Path) -> None:
    """A commit of the repository matches; one that nobody made is missing; a tree is no commit."""
    made = commit(repository, "a")
    assert look(repository, "commit", made)[0] == "match"
    assert look(repository, "commit", "0" * 40)[0] == "missing"
    assert look(repository, "commit", git(repository, "rev-parse", "HEAD^{tree}"))[0] == "missing"


def test_a_commit_must_descend_from_its_base(repository: Path) -> None:
    """The base itself and what follows it descend; what branched off before it does not."""
    root = commit(repository, "a")
    base = commit(repository, "b")
    after = commit(repository, "c")
    git(repository, "checkout", "-q", root)
    beside = commit(repository, "d")
    assert [look(repository, "descends", each, base)[0] for each in (base, after, beside)] == [
        "match",
        "match",
        "mismatch",
    ]
    assert look(repository, "descends", "0" * 40, base)[0] == "missing"


def test_a_commit_may_touch_only_its_paths(repository: Path) -> None:
    """Each path outside the globs is named; a rename out of them, a deletion and a case of letters count too."""
    base = commit(repository, "src/a.py", "tests/test_a.py", "docs/x.md")
    good = commit(repository, "src/deep/er/b.py")
    assert look(repository, "paths", good, base, "src/**") == ("match", ())
    bad = commit(repository, "tests/test_a.py", "Src/a.py")
    assert look(repository, "paths", bad, base, "src/**") == ("mismatch", ("Src/a.py", "tests/test_a.py"))
    assert look(repository, "paths", bad, base)[0] == "match"
    git(repository, "mv", "docs/x.md", "src/x.md")
    moved = commit(repository)
    assert "docs/x.md" in look(repository, "paths", moved, base, "src/**", "Src/**", "tests/**")[1]


def test_no_repository_is_unreachable(tmp_path: Path) -> None:
    """What can't be looked at is unreachable, not missing: it costs no attempt."""
    for kind in ("commit", "descends", "paths"):
        assert look(tmp_path / "nowhere", kind, "0" * 40, "1" * 40, "src/**")[0] == "unreachable"


def test_another_answer_to_the_same_request_is_another_event() -> None:
    """A takeover asks again: whoever drops repeats by their id loses an answer only if both are equal."""
    request = uuid5(NAMES, "request")
    verdicts = (Verdict.MATCH, Verdict.UNREACHABLE)
    found, away = (Answer(question_id="q1", kind=QuestionKind.ARTEFACT, verdict=each) for each in verdicts)
    asked = [(1, found), (1, away), (2, found)]
    assert len({inspection_id(request, tries, (answer,)) for tries, answer in (*asked, *asked)}) == len(asked)
