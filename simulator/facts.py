"""What is true in a simulated world: stored bytes, commits, which results were honest; and how an inspector sees it."""

from dataclasses import dataclass, field
from uuid import UUID

from remit.artefacts import ArtefactStore
from remit.contract.references import artefact_reference
from remit.errors import ArtefactError, ArtefactMismatchError, ArtefactMissingError
from remit.events.base import ArtefactRef
from remit.events.inputs import Answer, Question, QuestionKind, Verdict
from remit.ids import sha256

from .parts import questions

CANARY = "ghp_" + "a1B2" * 9
"""What no writer of ours may ever write."""


class Shelf(ArtefactStore):
    """An artefact store in memory: it may be out of reach, and hold other bytes than it is said to."""

    def __init__(self) -> None:
        """Begin empty."""
        self.blind = False
        self._held: dict[str, bytes] = {}

    def put(self, content: object) -> ArtefactRef:
        """Keep bytes."""
        data = content if isinstance(content, bytes) else b""
        digest = sha256(data)
        self._held[digest] = data
        return ArtefactRef(reference=artefact_reference(digest), sha256=digest, size=len(data))

    def spoil(self, digest: str) -> None:
        """Let other bytes lie there."""
        self._held[digest] = b"something else"

    def lose(self, digest: str) -> None:
        """Let nothing lie there."""
        self._held.pop(digest, None)

    def get(self, wanted: ArtefactRef | str) -> bytes:
        """As the real one answers."""
        digest = wanted.sha256 if isinstance(wanted, ArtefactRef) else wanted
        if self.blind:
            raise ArtefactError("out of reach")
        if digest not in self._held:
            raise ArtefactMissingError("nothing is stored there")
        if sha256(self._held[digest]) != digest:
            raise ArtefactMismatchError("other bytes")
        return self._held[digest]


@dataclass
class Facts:
    """The world as it is."""

    shelf: Shelf = field(default_factory=Shelf)
    commits: dict[str, frozenset[QuestionKind]] = field(default_factory=dict)  # revision -> what it fails
    true: set[UUID] = field(default_factory=set)  # results that meet their contract, by event id
    secrets: bool = False  # whether a canary was let loose

    def look(self, question: Question) -> Answer:
        """What an inspector finds: artefacts as the real one looks at them, commits as the world knows them."""
        if question.kind not in {QuestionKind.COMMIT, QuestionKind.DESCENDS, QuestionKind.PATHS}:
            return questions.answer(question, self.shelf)
        return Answer(
            question_id=question.id,
            kind=question.kind,
            verdict=self._of_commit(question),
            expected=question.expected,
        )

    def _of_commit(self, question: Question) -> Verdict:
        if self.shelf.blind:
            return Verdict.UNREACHABLE
        fails = self.commits.get(question.expected[0])
        if fails is None or question.kind in fails:
            return Verdict.MISSING if question.kind is QuestionKind.COMMIT else Verdict.MISMATCH
        return Verdict.MATCH
