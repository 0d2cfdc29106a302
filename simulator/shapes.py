"""Small workflows of several shapes: what is submitted, as a workflow file. Pure."""

from collections.abc import Callable
from typing import Any

BASE = "0f" * 20
REPOSITORY = f"repo://svc@commit:{BASE}"
Document = dict[str, Any]


def document(shape: str, workflow_id: str, tenant_id: str, **changed: Any) -> Document:  # noqa: ANN401 - any JSON
    """The workflow file of one workflow; `changed` replaces fields of it."""
    common = {
        "schema_version": "workflow-v1",
        "workflow_id": workflow_id,
        "tenant_id": tenant_id,
        "owner": "user:priya",
        "objective": "Try it",
        "definition_of_done": ["it works"],
    }
    return common | SHAPES[shape]() | changed


def _check(task: str, **changed: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return {"id": "works", "kind": "test_run", "task": task, "command": "suite", "holds_at": "none"} | changed


def _work(*before: str, **changed: Any) -> Document:  # noqa: ANN401 - any JSON
    found: Document = {"task_type": "work", "permissions": {"repository": "none"}}
    if before:
        found |= {"depends_on": list(before), "inputs": {f"of_{each}": f"task://{each}/report" for each in before}}
    return found | changed


def _code(*before: str, branch: str = "feature", **sources: str) -> Document:
    return {
        "task_type": "code",
        "depends_on": list(before),
        "inputs": sources or {"repo": REPOSITORY},
        "outputs": {"revision": "revision"},
        "permissions": {"repository": f"read-write:{branch}", "paths": ["src/**"]},
    }


def _test(*before: str, of: str = "code", output: str = "value") -> Document:
    return {
        "task_type": "test",
        "depends_on": list(before),
        "rework": of,
        "inputs": {"revision": f"task://{of}/revision"},
        "outputs": {"report": output},
        "permissions": {"repository": "execute"},
    }


def _single() -> Document:
    return {"checks": {"it works": [_check("a", holds_at="own")]}, "tasks": {"a": _work()}}


def _chain() -> Document:
    return {
        "checks": {"it works": [_check("b", holds_at="own")]},
        "tasks": {"a": _work(), "b": _work("a", rework="a")},
    }


def _fork() -> Document:
    """Two side by side, of which each may use more than half of what the workflow has."""
    half = {"limits": {"max_tokens": 6000}}
    return {
        "limits": {"max_tokens": 15000, "max_cost_gbp": "40"},
        "checks": {"it works": [_check("c", holds_at="own")]},
        "tasks": {"a": _work(**half), "b": _work(**half), "c": _work("a", "b", rework="a")},
    }


def _wide() -> Document:
    """Four side by side, of which two fit into the budget at once."""
    part = {"limits": {"max_tokens": 4000, "max_cost_gbp": "20"}}
    tasks = {each: _work(objective=f"Try {each}", **part) for each in "abcd"}
    return {
        "limits": {"max_tokens": 11000, "max_cost_gbp": "60", "max_workers": 3},
        "checks": {"it works": [_check("a", holds_at="own")]},
        "tasks": tasks,
    }


def _line() -> Document:
    """A revision, its tests, and a review of it: all must hold at the last revision."""
    return {
        "definition_of_done": ["committed", "it works", "reviewed"],
        "checks": {
            "committed": [{"id": "committed", "kind": "revision", "task": "code", "holds_at": "final"}],
            "it works": [_check("test", holds_at="final")],
            "reviewed": [{"id": "review", "kind": "review", "task": "review", "output": "report", "holds_at": "final"}],
        },
        "tasks": {
            "code": _code(),
            "test": _test("code"),
            "review": _test("test", output="document"),
        },
    }


def _branches() -> Document:
    """Two branches side by side that meet in a third task; what is tested is what they make together."""
    sources = {"left": "task://left/revision", "right": "task://right/revision"}
    return {
        "checks": {"it works": [_check("test", holds_at="final")]},
        "tasks": {
            "left": _code(branch="left"),
            "right": _code(branch="right"),
            "join": _code("left", "right", branch="joined", **sources),
            "test": _test("join", of="join"),
        },
    }


def _draft() -> Document:
    """A worker drafts the next version of the contract while another task runs on the first one."""
    plan = {"task_type": "test", "outputs": {"contract": "contract"}, "permissions": {"repository": "none"}}
    return {
        "checks": {"it works": [_check("b", holds_at="own")]},
        "tasks": {"plan": plan, "a": _work(), "b": _work("a", rework="a")},
    }


def _spawning() -> Document:
    """A worker may propose two further tasks."""
    spawn = {"types": ["work"], "max_subtasks": 2, "max_cost_gbp": "20"}
    return {
        "checks": {"it works": [_check("a", holds_at="own")]},
        "tasks": {"a": _work(spawn=spawn), "b": _work("a", rework="a")},
    }


SHAPES: dict[str, Callable[[], Document]] = {
    "single": _single,
    "chain": _chain,
    "fork": _fork,
    "wide": _wide,
    "line": _line,
    "branches": _branches,
    "spawning": _spawning,
    "draft": _draft,
}
