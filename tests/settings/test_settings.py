"""Settings from the environment, and what a Kafka client is given of them."""

import json
import traceback
from pathlib import Path

import pytest

from remit.doctor.probe_machine import disks
from remit.errors import SettingsError
from remit.log.kafka.client import client_config
from remit.settings import Settings, load

CANARY = "canary-5f1e"


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP_SERVERS", raising=False)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"REMIT_{name.upper()}", raising=False)


def test_without_any_setting_the_defaults_hold() -> None:
    """No cluster is named, eight partitions, artefacts in a folder below home."""
    settings = load()
    assert (settings.bootstrap, settings.topic_prefix, settings.partitions) == (None, "remit.", 8)
    assert settings.artefact_url == (Path(".remit").absolute() / "artefacts").as_uri()


def test_a_flag_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a flag that was not given does not hide the environment."""
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "from-env:9092")
    assert load(bootstrap=None).bootstrap == "from-env:9092"
    assert load(bootstrap="flag:9092").bootstrap == "flag:9092"


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """As compose files leave them."""
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "")
    assert load().bootstrap is None


@pytest.mark.parametrize(
    "variable",
    ["REMIT_PARTITIONS", "REMIT_SECURITY_PROTOCOL", "REMIT_SASL_MECHANISM", "REMIT_DISPLAY_ZONE", "REMIT_TOPIC_PREFIX"],
)
def test_a_bad_value_is_named_by_variable_and_never_shown(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """REDACT-3: name and rule; the value is in no text, no attribute and no chained error."""
    monkeypatch.setenv(variable, f"{CANARY} /")
    with pytest.raises(SettingsError) as refused:
        load()
    assert str(refused.value).startswith(f"{variable}: ")
    shown = "".join(traceback.format_exception(refused.value)) + json.dumps(vars(refused.value), default=str)
    assert CANARY not in shown
    assert refused.value.__context__ is None


def test_a_zone_of_any_length_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library looks for it one folder in another, deeper than this interpreter recurses."""
    monkeypatch.setenv("REMIT_DISPLAY_ZONE", "Europe/Londone" + "/Londone" * 900)
    with pytest.raises(SettingsError, match=r"^REMIT_DISPLAY_ZONE: must be a time zone"):
        load()


def test_all_faults_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line each."""
    monkeypatch.setenv("REMIT_PARTITIONS", "0")
    monkeypatch.setenv("REMIT_DISPLAY_ZONE", "Nowhere/Land")
    with pytest.raises(SettingsError) as refused:
        load()
    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == [
        "REMIT_PARTITIONS",
        "REMIT_DISPLAY_ZONE",
    ]


def test_half_a_login_is_refused_without_showing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """REDACT-3: a password without a user is a fault, and stays unseen."""
    monkeypatch.setenv("REMIT_SASL_PASSWORD", CANARY)
    with pytest.raises(SettingsError, match="REMIT_SASL_USERNAME") as refused:
        load()
    assert CANARY not in "".join(traceback.format_exception(refused.value))


def test_the_password_shows_in_no_form_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither repr nor JSON holds it; only the client's configuration does."""
    monkeypatch.setenv("REMIT_SASL_USERNAME", "worker")
    monkeypatch.setenv("REMIT_SASL_PASSWORD", CANARY)
    settings = load(bootstrap="c:9092")
    assert CANARY not in repr(settings) + settings.model_dump_json()
    assert client_config(settings)["sasl.password"] == CANARY


def test_security_settings_pass_through_under_librdkafkas_names() -> None:
    """SASL and TLS reach the client as given, and nothing else is set."""
    given = {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_username": "u",
        "sasl_password": "p",
        "ssl_ca_location": "/ca.pem",
        "ssl_certificate_location": "/c.pem",
        "ssl_key_location": "/k.pem",
    }
    config = client_config(load(bootstrap="c:9092", **given))
    assert {name.replace(".", "_"): value for name, value in config.items() if name.startswith(("s", "ssl"))} == given
    assert config["metadata.recovery.strategy"] == "none"
    assert config["logger"].name == "remit.kafka"


def test_a_client_without_a_cluster_is_a_settings_error() -> None:
    """It names the variable that would name one."""
    with pytest.raises(SettingsError, match="KAFKA_BOOTSTRAP_SERVERS"):
        client_config(load())


@pytest.mark.parametrize("url", ["s3://[", f"s3://{CANARY}]", "file://[x/y"])
def test_an_artefact_store_that_is_no_address_is_refused_at_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its variable, and not where it is first taken apart; it may hold a login, so it is not shown."""
    monkeypatch.setenv("REMIT_ARTEFACTS", url)
    with pytest.raises(SettingsError, match=r"^REMIT_ARTEFACTS: must be a folder or a URL") as refused:
        load()
    assert CANARY not in str(refused.value)


def test_a_folder_of_any_length_has_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that no file can have stands below a folder that is there."""
    monkeypatch.setenv("REMIT_HOME", "a" * 5_000)
    assert disks(load())
