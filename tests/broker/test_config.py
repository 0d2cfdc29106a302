"""The broker's configuration, jars and runtime, without starting anything."""

from pathlib import Path

import pytest

from remit.broker import config, jars, java
from remit.errors import BrokerError


def _silent(_line: str) -> None:
    """No progress wanted."""


def test_the_broker_listens_on_loopback_only_and_keeps_its_promises() -> None:
    """Every listener is 127.0.0.1, topics don't appear by themselves, offsets and aborts are as the design needs."""
    text = config.server_properties(Path("/data/kafka"), 9092, 9093)
    settings = dict(line.split("=", 1) for line in text.splitlines())
    addresses = settings["listeners"].split(",")
    assert [each.partition("//")[2].partition(":")[0] for each in addresses] == ["127.0.0.1", "127.0.0.1"]
    assert settings["advertised.listeners"] == "PLAINTEXT://127.0.0.1:9092"
    assert settings["auto.create.topics.enable"] == "false"
    assert settings["offsets.retention.minutes"] == "2147483647"
    assert settings["transaction.abort.timed.out.transaction.cleanup.interval.ms"] == "1000"


def test_a_folder_name_that_java_would_misread_is_escaped() -> None:
    """Java reads properties as Latin-1 with backslash escapes; the folder's name must survive that."""
    text = config.server_properties(Path("/d\\x/é/𝄞"), 1, 2)
    assert "log.dirs=/d\\\\x/\\u00e9/\\ud834\\udd1e\n" in text
    assert text.isascii()


def test_every_jar_is_pinned_once_and_kafka_is_of_one_version() -> None:
    """46 files with a hash each; all of Kafka is 4.2.0, as a mixture would start and then fail."""
    pinned = jars.pinned()
    kafka = [each.coordinates for each in pinned if each.coordinates[0] == "org.apache.kafka"]
    assert len({each.path for each in pinned}) == len(pinned) == 46
    assert {len(each.sha256) for each in pinned} == {64}
    assert {version for _group, _name, version in kafka} == {jars.KAFKA_VERSION}
    assert ("org.apache.kafka", "kafka-clients", "4.2.0") in kafka


def test_no_network_and_an_empty_cache_is_one_clear_error(tmp_path: Path) -> None:
    """It says what is missing and both ways out; the mirror's address, which may hold a password, is not shown."""
    environ = {jars.CACHE_VARIABLE: str(tmp_path), jars.MIRROR_VARIABLE: "http://user:canary@127.0.0.1:1/mirror"}
    with pytest.raises(BrokerError) as refused:
        jars.ensure_jars(_silent, environ)
    assert jars.MIRROR_VARIABLE in str(refused.value)
    assert jars.CACHE_VARIABLE in str(refused.value)
    assert "canary" not in str(refused.value)
    assert not list(tmp_path.rglob("*.jar"))


def test_a_jar_with_other_bytes_counts_as_missing(tmp_path: Path) -> None:
    """A truncated or swapped file in the cache is never put on the class path."""
    for each in jars.pinned():
        path = tmp_path / each.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"not a jar")
    with pytest.raises(BrokerError):
        jars.ensure_jars(_silent, {jars.CACHE_VARIABLE: str(tmp_path), jars.MIRROR_VARIABLE: "http://127.0.0.1:1"})


def test_a_cache_that_cant_be_written_is_a_broker_error(tmp_path: Path) -> None:
    """A file where the folder should be is reported, not raised as it comes."""
    (tmp_path / "file").write_text("")
    with pytest.raises(BrokerError, match="cache folder"):
        jars.ensure_jars(_silent, {jars.CACHE_VARIABLE: str(tmp_path / "file")})


@pytest.mark.parametrize(
    ("banner", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25"', 25),
        ("", 0),
    ],
)
def test_the_version_is_read_from_the_banner(banner: str, version: int) -> None:
    """Old and new forms of Java's banner give the feature version."""
    assert java.java_version(banner) == version


def test_without_any_java_the_error_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No wheel and no java on the PATH: one line that names the extra."""
    monkeypatch.setattr(java, "_wheel_java", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(BrokerError, match=r"remit\[broker\]"):
        java.find_java()


def test_a_system_java_that_is_too_old_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A Java 11 on the PATH is not taken."""
    old = tmp_path / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    old.chmod(0o755)
    monkeypatch.setattr(java, "_wheel_java", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(BrokerError):
        java.find_java()
