"""A worker's configuration: every fault named by key and rule, no value shown."""

from pathlib import Path
from typing import Any

import pytest

from remit.cli.entry import run
from remit.errors import SettingsError
from workers.config import load_config, read_secrets

GOOD = "worker_id: w-1\npool: coders\nargv: [./agent]\nhome: .remit\n"


def config_file(folder: Path, text: str) -> Path:
    path = folder / "worker.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    """What a flag leaves out comes from the file."""
    config = load_config(config_file(tmp_path, GOOD + "slots: 2\n"), slots=3, env_allow=(), pool=None)
    assert (config.slots, config.pool, config.argv) == (3, "coders", [str(tmp_path / "agent")])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("slot: 2\n", "slot is not a known key (did you mean slots?)"),
        ("slots: 0\n", "slots must be at least 1"),
        ("env_allow: ['A=B']\n", "env_allow[0] must match"),
        ("renewal_seconds: 60\n", "renewal_seconds (60) must be below lease_seconds (30)"),
    ],
)
def test_each_fault_is_named(tmp_path: Path, text: str, fault: str) -> None:
    """VALID-5: the unknown key with the nearest known one, and each broken rule with its key."""
    with pytest.raises(SettingsError) as raised:
        load_config(config_file(tmp_path, GOOD + text))
    assert fault in str(raised.value)


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    """One line each."""
    with pytest.raises(SettingsError) as raised:
        load_config(config_file(tmp_path, "slots: 0\nslot: 1\n"))
    assert len(str(raised.value).splitlines()) == 6


def test_no_value_is_shown(tmp_path: Path) -> None:
    """REDACT-3: neither of the file nor of the secrets beside it, in message or chain."""
    canary = "Zq7vK1mW9xT3pL5c"
    secrets = tmp_path / "secrets"
    secrets.write_text(f"OK=1\n{canary}\n", encoding="utf-8")
    for load in (
        lambda: load_config(config_file(tmp_path, GOOD + f"slots: {canary}\n")),
        lambda: read_secrets(secrets),
    ):
        with pytest.raises(SettingsError) as raised:
            load()
        error: BaseException | None = raised.value
        while error is not None:
            assert canary not in f"{error!r} {vars(error)}"
            error = error.__cause__ or error.__context__


def test_secrets_are_lines_of_names_and_values(tmp_path: Path) -> None:
    """Comments, quotes and `export` are as in a shell's file; nothing is expanded."""
    path = tmp_path / "secrets"
    path.write_text("# note\n\nexport A='x y'\nB=$A\nC=\"q\"\n", encoding="utf-8")
    assert read_secrets(path) == {"A": "x y", "B": "$A", "C": "q"}
    assert read_secrets(None) == {}


def test_a_file_that_cannot_be_read_is_named_by_its_key(tmp_path: Path) -> None:
    """Configuration and secrets alike."""
    with pytest.raises(SettingsError, match="can't be read"):
        load_config(tmp_path / "absent.yaml")
    with pytest.raises(SettingsError, match="secrets_from: the file can't be read"):
        read_secrets(tmp_path / "absent")


def test_a_flag_that_is_not_given_leaves_the_file_its_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`calls_no_model: true` in the file holds unless a flag says otherwise."""
    asked: dict[str, Any] = {}

    def read(*_: object, **flags: Any) -> None:
        asked.update(flags)
        raise SettingsError("read")

    monkeypatch.setattr("workers.config.load_config", read)
    monkeypatch.setenv("REMIT_HOME", str(tmp_path))
    assert run(["--bootstrap", "127.0.0.1:1", "worker", "run", "--config", str(config_file(tmp_path, GOOD))]) == 2
    assert (asked["calls_no_model"], asked["keep_workspaces"]) == (None, None)
