"""One examination: every probe, then every check. The command line runs it; `remit.doctor` exports it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from remit.doctor import probe_cluster, probe_machine
from remit.doctor.checks import brokers, machine, reading, topics, workflows
from remit.doctor.facts import Brokers, StandsStill
from remit.doctor.finding import Finding, Unchecked
from remit.errors import RemitError
from remit.instants import aware
from remit.log.kafka.admin import TopicAdmin
from remit.log.kafka.probe import Probe
from remit.settings import Settings

_CONNECT = "start the cluster, or name the right one with KAFKA_BOOTSTRAP_SERVERS; the embedded broker: remit up"


@dataclass(slots=True)
class Report:
    """What was found, and what could not be checked."""

    findings: list[Finding] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)

    @contextmanager
    def checking(self, check: str) -> Iterator[None]:
        """Note what can't be probed as unchecked, and go on."""
        try:
            yield
        except RemitError as error:
            self.unchecked.append(Unchecked(check, str(error)))


def examine(
    settings: Settings,
    connect: Callable[[], Settings],
    clock: Callable[[], datetime],
    view_topics: Iterable[str],
    stalled: Callable[[Settings], Iterable[StandsStill]] = lambda _: (),
) -> Report:
    """Look at machine and cluster.

    Args:
        settings: this machine's.
        connect: gives settings that name a cluster; called after the machine was looked at, for it may start a broker.
        clock: the local time, aware.
        view_topics: what the views are made from, names without prefix.
        stalled: gives the open workflows that stand still.
    """
    aware(clock(), "clock")
    report = Report()
    _examine_machine(report, settings)
    try:
        connected = connect()
        probe, admin = Probe(connected), TopicAdmin(connected)
        log = probe_cluster.log_of(probe, admin, connected)
    except RemitError as error:
        report.findings.append(Finding("unreachable", "the cluster", str(error), _CONNECT))
        return report
    _examine_topics(report, probe, admin, log)
    now = probe_cluster.broker_time(clock(), _examine_brokers(report, probe, clock))
    _examine_reading(report, probe, log, now, view_topics)
    with report.checking("stalled-workflow"):
        report.findings += workflows.standing_still(stalled(connected))
    return report


def _examine_machine(report: Report, settings: Settings) -> None:
    with report.checking("orphaned-broker"):
        report.findings += machine.orphans(probe_machine.processes(settings.home))
    report.findings += machine.full_disks(probe_machine.disks(settings))
    report.findings += machine.unreadable_store(probe_machine.store(settings))


def _examine_topics(report: Report, probe: Probe, admin: TopicAdmin, log: probe_cluster.Log) -> None:
    with report.checking("topics"):
        report.findings += topics.settings(admin.deviations())
    with report.checking("replication"):
        layouts, count = probe_cluster.layouts(probe, admin, log), len(probe.topology().brokers)
        report.findings += topics.replication(layouts, count, log.bootstrap)


def _examine_brokers(report: Report, probe: Probe, clock: Callable[[], datetime]) -> dict[int, timedelta]:
    ahead: dict[int, timedelta] = {}
    with report.checking("old-broker"):
        found = Brokers(probe.levels(probe.topology().brokers), {})
        report.findings += brokers.too_old(found) + brokers.tearing(found)
    with report.checking("clock"):
        ahead = probe.ahead(clock)
        report.findings += brokers.clocks(Brokers({}, ahead))
    return ahead


def _examine_reading(
    report: Report, probe: Probe, log: probe_cluster.Log, now: datetime, view_topics: Iterable[str]
) -> None:
    with report.checking("hung-transaction"):
        report.findings += reading.hung_transactions(probe_cluster.open_ends(probe, log), now, log.bootstrap)
    with report.checking("lag of the supervisors"):
        report.findings += reading.lag([probe_cluster.supervisors(probe, log)], now)
    with report.checking("lag of the views"):
        views = probe_cluster.views(probe, log, view_topics, probe_machine.positions(log.settings))
        report.findings += reading.lag([views], now) + reading.foreign_views([views])
