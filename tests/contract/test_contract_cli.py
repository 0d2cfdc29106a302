"""`remit check` and `remit policy check`: every fault at once, exit codes, no broker."""

import json
from pathlib import Path

import pytest

from remit.cli.entry import run
from remit.policy import load

HERE = Path(__file__).parent


def check(*arguments: str) -> int:
    return run(["check", *arguments])


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reaches for the cluster fails the test."""

    def reached(*_: object, **__: object) -> None:
        raise AssertionError("check reached for the settings of a cluster")

    monkeypatch.setattr("remit.cli.invocation.Invocation.connected", property(reached))


def test_a_valid_file_is_told_back(capsys: pytest.CaptureFixture[str]) -> None:
    """What was understood is printed, with the policy's hash; exit 0."""
    assert check(str(HERE / "worked_example.yaml")) == 0
    shown = capsys.readouterr().out
    assert "valid: workflow password-reset-1, tenant local, owner user:priya" in shown
    assert f"policy {load.sha256(load.default_text())} (shipped)" in shown
    assert "resolved at submit: inputs.threat_model" in shown
    assert "single-use-token" in shown


def test_the_faults_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One CONTRACT_INVALID line per fault on stderr, all at once; exit 2."""
    contract = json.loads((HERE / "password-reset-contract.json").read_text())
    del contract["permissions"]["repository"]
    contract["limits"]["max_tokens"] = -1
    path = tmp_path / "contract.json"
    path.write_text(json.dumps(contract))
    assert check(str(path)) == 2
    assert capsys.readouterr().err.splitlines() == [
        "CONTRACT_INVALID: permissions.repository is required",
        "CONTRACT_INVALID: limits.max_tokens must be at least 1",
    ]


def test_judging_at_another_time(capsys: pytest.CaptureFixture[str]) -> None:
    """TIME-2: by `--at`: the second article's deadline is its one fault after it, and none before."""
    path = str(HERE / "product-review-envelope.json")
    assert check(path, "--at", "2026-07-19T12:00:01Z") == 2
    assert capsys.readouterr().err == "CONTRACT_INVALID: deadline lies in the past\n"
    assert check(path, "--at", "2026-07-01T00:00:00Z") == 0
    assert "until 2026-07-19T12:00:00Z (" in capsys.readouterr().out
    assert check(path, "--at", "2026-07-01T00:00:00") == 2
    assert capsys.readouterr().err == "--at must name its zone, like 2026-07-19T12:00:00Z\n"


def test_json_output(capsys: pytest.CaptureFixture[str]) -> None:
    """--json gives one document either way, with the exit code unchanged."""
    path = str(HERE / "product-review-envelope.json")
    assert check(path, "--json", "--at", "2026-07-01T00:00:00Z") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["valid"], found["workflow"]["workflow_id"]) == (True, "catalog-2026-0719-0042")
    assert check(path, "--json", "--at", "2027-07-01T00:00:00Z") == 2
    found = json.loads(capsys.readouterr().out)
    assert (found["valid"], found["faults"]) == (False, ["deadline lies in the past"])


def test_another_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--policy judges under that file; an invalid policy is refused itself."""
    path = tmp_path / "policy.yaml"
    path.write_text(load.default_text().replace("max_tokens: 200000", "max_tokens: 100").replace("60000", "100"))
    assert check(str(HERE / "password-reset-contract.json"), "--policy", str(path)) == 2
    assert capsys.readouterr().err == "CONTRACT_INVALID: limits.max_tokens must be at most 100 (policy)\n"
    path.write_text("schema_version: policy-v1\n")
    assert check(str(HERE / "password-reset-contract.json"), "--policy", str(path)) == 2
    assert capsys.readouterr().err.startswith("POLICY_INVALID: environment is required\n")


@pytest.mark.parametrize("size", [10_000_000, 100])
def test_garbage(size: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """10 MB of anything and a few bytes of garbage get one line each; exit 2."""
    path = tmp_path / "garbage"
    path.write_bytes(b"\xff" * size)
    assert check(str(path)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line in (
        "CONTRACT_INVALID: size: 10000000 bytes, at most 262144",
        "CONTRACT_INVALID: not UTF-8 text (byte 0)",
    )


def test_policy_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`remit policy check` judges a policy file, by default the shipped one."""
    assert run(["policy", "check"]) == 0
    assert load.sha256(load.default_text()) in capsys.readouterr().out
    path = tmp_path / "policy.json"
    path.write_text('{"schema_version": "policy-v1", "schema_version": "policy-v1"}')
    assert run(["policy", "check", str(path)]) == 2
    assert capsys.readouterr().err == "POLICY_INVALID: schema_version: key stands twice\n"
