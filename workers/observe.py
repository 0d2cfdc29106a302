"""Runs the checks' command lines itself, after the handler has ended, and records what it saw.

The command lines come from the contract, never from the worker; no shell reads them. Each runs in a fresh checkout of
the exact revision, so nothing that the handler left behind can help it. Without a revision it runs where the handler
worked. Secrets handed to the handler are not handed to it. Only this role imports it.
"""

from dataclasses import dataclass
from pathlib import Path

from remit.events.base import ArtefactRef, Evidence, EvidenceForm

from .environment import scrubbed
from .job import Bench, Job
from .left import read_left
from .meter import Meter
from .plan import Run, fill, plan
from .process import MARKER, Ended, Stop, run, run_marker
from .reports import MAX_BYTES, Report, read_report
from .views import confined, of_check
from .witness import Witness


@dataclass(frozen=True)
class Observed:
    """One run and what is kept of it."""

    run: Run
    argv: list[str]
    output: ArtefactRef
    report: ArtefactRef | None
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class Observer:
    """Observes the commands of one attempt."""

    job: Job
    bench: Bench
    meter: Meter
    stop: Stop
    witness: Witness

    def observe(self) -> list[Observed]:
        """Run all; stops early when the attempt is to end. Raises WorkspaceError when a checkout can't be made."""
        found: list[Observed] = []
        for number, each in enumerate(plan(self.job.handout, self.job.offer.rework), 1):
            seen, ended = self._observe(each, self.job.ground.observed / str(number))
            found.append(seen)
            if ended.cause is not None:
                break
        return found

    def _observe(self, planned: Run, folder: Path) -> tuple[Observed, Ended]:
        folder.mkdir()
        tree, report_file = self._tree(folder), folder / "report"
        argv = fill(planned, report_file, tree)
        self.meter.command()
        self.meter.advance(note=f"observing {planned.name}, {EvidenceForm(planned.form)}")
        started = self.bench.clock()
        ended = self._run(argv, tree, folder)
        times = (started, self.bench.clock())
        self.meter.advance()
        output = self.bench.store.put(self.bench.redactor.data(ended.output))
        report = self._report(planned, report_file)
        evidence = self.witness.run(
            planned, argv=argv, exit_status=ended.exit_status, output=output, report=report, times=times
        )
        return Observed(planned, argv, output, report[0], tuple(evidence)), ended

    def _tree(self, folder: Path) -> Path:
        base, subject = self.job.base, self.witness.subject
        if base is None or base.location is None or subject.revision is None:
            return self.job.ground.workspace
        tree = folder / "tree"
        self.bench.repository(base.location).check_out(subject.revision, tree)
        return tree

    def _run(self, argv: list[str], tree: Path, folder: Path) -> Ended:
        environment = check_environment(self.job, self.bench, folder)
        try:
            return run(
                confined(argv, of_check(self.job, self.bench, folder, tree), self.bench),
                folder=tree,
                environment=environment,
                until=self.job.until,
                stop=self.stop,
                printed=self.meter.advance,
            )
        except (OSError, ValueError) as error:
            return Ended(127, f"{argv[0]} can't be started: {type(error).__name__}\n".encode())

    def _report(self, planned: Run, file: Path) -> tuple[ArtefactRef | None, Report]:
        form = planned.command.report
        data = read_left(file, MAX_BYTES + 1) if form is not None else None
        if form is None or data is None or len(data) > MAX_BYTES:
            return None, Report()
        read = read_report(form, data)
        return self.bench.store.put(self.bench.redactor.data(data)), read or Report()


def check_environment(job: Job, bench: Bench, folder: Path) -> dict[str, str]:
    """What a check's command sees: allowed variables, no secrets, a home and a temporary folder of its own."""
    home, scratch = folder / "home", folder / "tmp"
    home.mkdir(exist_ok=True)
    scratch.mkdir(exist_ok=True)
    return scrubbed(home, scratch, bench.config.env_allow, {MARKER: run_marker(job.dispatch.attempt_id)})
