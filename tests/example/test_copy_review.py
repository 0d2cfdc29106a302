"""The second article's task envelope as a working example: by reference, by granted tools, to a verdict."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from remit.contract.gate import normalise
from remit.documents import read
from remit.policy import load
from tests.contract.conftest import NOW
from workers.config import load_config

EXAMPLE = Path(__file__).parents[2] / "examples" / "copy_review"


def test_the_envelope_passes_the_shipped_policy() -> None:
    """One task whose requirement is met by a stored review; tools are the policy's two."""
    workflow = normalise(read(EXAMPLE / "envelope.json"), load.parse(load.default_text()), now=NOW)
    (task,) = workflow.tasks.values()
    assert (task.task_type, task.tools) == ("review_product_copy", ("read_product", "read_policy"))
    assert [each.text for each in workflow.requirements] == ["product copy reviewed"]


def test_programs_are_found_from_the_configuration_file(tmp_path: Path) -> None:
    """Whatever folder the worker is started in."""
    config = load_config(EXAMPLE / "worker.yaml", home=tmp_path)
    assert config.argv == [str(EXAMPLE / "review.py")]
    assert set(config.tool_commands) == {"read_product", "read_policy"}
    assert all(Path(argv[0]).is_file() for argv in config.tool_commands.values())


@pytest.mark.parametrize(("product", "verdict"), [("A14", "change"), ("v8", "approve")])
def test_the_handler_reads_by_tools_alone(tmp_path: Path, product: str, verdict: str) -> None:
    """It calls the two tools on its PATH and hands over a review and a verdict."""
    tool = tmp_path / "remit-tool"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{EXAMPLE}/tools.py" "${{1#read_}}" "$2"\n', "utf-8")
    tool.chmod(0o755)
    forbidden = "v8" if product == "A14" else "A14"
    inputs = {"input_1": {"reference": f"sku:{product}"}, "input_2": {"reference": f"policy:{forbidden}"}}
    (tmp_path / "dispatch.json").write_text(json.dumps({"inputs": inputs}), "utf-8")
    env = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "REMIT_DISPATCH": str(tmp_path / "dispatch.json"),
        "REMIT_OUT": str(tmp_path),
        "REMIT_RESULT": str(tmp_path / "result.json"),
    }
    subprocess.run([sys.executable, str(EXAMPLE / "review.py")], env=env, check=True)
    assert json.loads((tmp_path / "result.json").read_text())["output"] == {"verdict": verdict}
    assert f"sku:{product}" in (tmp_path / "review.md").read_text()
