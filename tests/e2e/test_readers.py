"""Readers that know nothing of Remit: Confluent's own client reads the transitions, with the schemas that we serve."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.rig import Rig

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]
ROOT = Path(__file__).parents[2]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def test_a_script_without_remit_prints_the_transitions(rig: Rig) -> None:
    """The example script, with SchemaRegistryClient and AvroDeserializer alone, prints each transition decoded."""
    port = _free_port()
    rig.supervisor()
    rig.start("schemas", "serve", "--port", str(port))
    rig.worker("shell-1", ROOT / "examples/pipeline/step.sh")
    rig.run("submit", str(ROOT / "examples/pipeline/workflow.yaml"), "--wait")
    expected = [f"local/pipeline-1 {e.sequence} {e.kind.value} {e.task_id}" for e in rig.history("pipeline-1")]
    env = rig.env | {"SCHEMA_REGISTRY_URL": f"http://127.0.0.1:{port}", "PATH": os.environ["PATH"]}
    argv = [sys.executable, str(ROOT / "examples/read_transitions.py")]
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True) as script:
        assert script.stdout is not None
        printed = [script.stdout.readline().strip() for _ in expected]
        script.kill()
    assert printed == expected
