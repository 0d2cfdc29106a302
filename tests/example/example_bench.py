"""The example's repository, worktrees, workers as commands, and suite; imported by the tests of the example."""

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "password_reset"


def load(path: Path) -> ModuleType:
    """Import a Python file of the example, which is no package; a worker's name has no ending."""
    loader = SourceFileLoader(f"example_{path.stem}", str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module
    sys.path.insert(0, str(path.parent))
    try:
        loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)  # noqa: S607
    return done.stdout.strip()


@dataclass
class Suite:
    """Outcome of the service's test suite at one tree: every test id with what became of it."""

    cases: dict[str, str] = field(default_factory=dict)
    report: str = ""

    @property
    def failed(self) -> list[str]:
        return sorted(name for name, outcome in self.cases.items() if outcome != "passed")


def run_suite(folder: Path, report: Path, *words: str) -> Suite:
    """Run the workflow's `suite` command in a checkout."""
    argv = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *words]
    env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(argv, cwd=folder, env=env, check=False, capture_output=True, timeout=100)
    text = report.read_text(encoding="utf-8")
    outcomes = {
        f"{case.get('classname')}::{case.get('name')}": next((child.tag for child in case), "passed")
        for case in ET.fromstring(text).iter("testcase")  # noqa: S314 (our own report)
    }
    return Suite(outcomes, text)


@dataclass
class Answer:
    """What a worker left: its envelope, its usage, and what it said."""

    envelope: dict[str, Any]
    usage: dict[str, Any]
    said: str


@dataclass
class Bench:
    """The example's repository, and everything one can do with it; suites are run once for each tree."""

    folder: Path
    repository: Path
    base: str
    suites: dict[str, Suite] = field(default_factory=dict)
    count: int = 0

    def checkout(self, revision: str) -> Path:
        """A fresh worktree at a revision."""
        self.count += 1
        target = self.folder / f"tree-{self.count}"
        git(self.repository, "worktree", "add", "--quiet", "--detach", str(target), revision)
        return target

    def suite(self, revision: str) -> Suite:
        tree = git(self.repository, "rev-parse", f"{revision}^{{tree}}")
        if tree not in self.suites:
            self.suites[tree] = run_suite(self.checkout(revision), self.folder / f"{tree}.xml")
        return self.suites[tree]

    def work(self, worker: str, workspace: Path, dispatch: dict[str, Any], **env: str) -> Answer:
        """Run a worker as the runner does: a command with a scrubbed environment."""
        self.count += 1
        out = self.folder / f"out-{self.count}"
        out.mkdir()
        (out / "dispatch.json").write_text(json.dumps({"task_id": worker, "attempt_id": "a-1", **dispatch}))
        names = {"DISPATCH": "dispatch.json", "RESULT": "result.json", "USAGE": "usage.json"}
        paths = {f"REMIT_{name}": str(out / file) for name, file in names.items()}
        done = subprocess.run(
            [str(EXAMPLE / "workers" / worker)],
            env={"PATH": os.environ["PATH"], "REMIT_WORKSPACE": str(workspace), **paths, **env},
            cwd=workspace,
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )
        envelope, usage = (json.loads((out / file).read_text()) for file in ("result.json", "usage.json"))
        return Answer(envelope, usage, done.stdout)

    def store(self, text: str, **more: str) -> dict[str, str]:
        """An input as the dispatch names it, with the file that the runner fetched."""
        self.count += 1
        path = self.folder / f"input-{self.count}"
        path.write_text(text)
        return {"path": str(path), **more}

    def code(self, revision: str, defect: str, failed: list[str], **dispatch: Any) -> str:
        """Let the coding worker answer from a revision; return the revision it committed."""
        workspace = self.checkout(revision)
        inputs = {"requirements": self.store("# Requirements")}
        rework = {"evidence": [{"kind": "test_run", "command": "suite", "failed_cases": failed}]} if failed else None
        offer = {"inputs": inputs, "rework": rework, **dispatch}
        answer = self.work("coding", workspace, offer, REMIT_EXAMPLE_DEFECT=defect)
        assert answer.envelope == {"status": "completed", "output": {}, "evidence": []}
        return git(workspace, "rev-parse", "HEAD")
