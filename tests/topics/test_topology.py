"""The comparison of found topics with agreed ones."""

from dataclasses import replace

from remit.log.kafka.topology import Deviation, FoundTopic, agreed_specs, deviations
from remit.topics import TopicSpec

SPEC = TopicSpec("p.results", 8, {"cleanup.policy": "delete", "retention.ms": "-1"})
GOOD = FoundTopic(8, {"cleanup.policy": "delete", "retention.ms": "-1", "segment.bytes": "1"})


def test_a_topic_as_agreed_has_no_deviation() -> None:
    """Settings that nobody agreed on are free."""
    assert deviations([SPEC], {"p.results": GOOD, "another": GOOD}) == ()


def test_each_deviation_names_topic_setting_found_and_required() -> None:
    """All of them at once, partition count first."""
    found = replace(GOOD, partitions=12, config={**GOOD.config, "retention.ms": "86400000"})
    assert deviations([SPEC], {"p.results": found}) == (
        Deviation("p.results", "partitions", "12", "8"),
        Deviation("p.results", "retention.ms", "86400000", "-1"),
    )


def test_a_missing_topic_is_one_deviation() -> None:
    """Its settings are not listed on top."""
    assert [str(each) for each in deviations([SPEC], {})] == ["p.results: presence is missing, required is present"]


def test_pools_found_on_the_cluster_are_held_to_the_agreement_too() -> None:
    """Their dispatches are known by prefix; topics of another prefix are nobody's business."""
    names = [each.name for each in agreed_specs("p.", 8, ["p.dispatches.code", "q.dispatches.x", "p.other"])]
    assert names[-1] == "p.dispatches.code"
    assert len(names) == 13
