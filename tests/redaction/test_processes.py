"""Law 12 for what names a process of ours: refused at its start, before anything is written under that name."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.errors import SettingsError
from tests.redaction.canaries import assert_clean, names, told
from workers.config import load_config

FIELDS: dict[str, Any] = {
    "worker_id": str,
    "pool": str,
    "capabilities": lambda name: [name],
    "tools": lambda name: [name],
    "output_schemas": lambda name: [name],
    "permissions": lambda name: {name: ["none"]},
    "price_entry": str,
}


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(FIELDS)), names())
def test_a_worker_is_not_registered_under_a_secret(field: str, secret: tuple[str, str]) -> None:
    """REDACT-2: each word of a registration that a configuration may name; the fault names the key alone."""
    canary, name = secret
    good: dict[str, Any] = {"worker_id": "w-1", "pool": "coders", "argv": ["true"], "home": Path()}
    load_config(**good)
    with pytest.raises(SettingsError) as refused:
        load_config(**{**good, field: FIELDS[field](name)})
    assert field in str(refused.value)
    assert_clean(canary, told(refused.value))


def test_a_supervisor_does_not_start_under_a_secret() -> None:
    """REDACT-2: its name stands in every transition."""
    canary = "Zq7vK1mW9xT3pL5c"
    ran = subprocess.run(
        [sys.executable, "-m", "remit.cli", "supervisor", "run", "--name", f"ghp_{canary}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "--name holds what looks like a secret" in ran.stderr
    assert canary not in ran.stderr
