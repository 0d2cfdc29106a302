"""The password-reset example as `dev` and `demo` use it: its files, its policy, its workers.

Only `remit.cli` imports it. It lies in a checkout of Remit; an installed package has none, and says so.
"""

import importlib.util
import json
from pathlib import Path
from typing import Any

import remit
from remit.cli.children import Children
from remit.errors import SettingsError
from remit.policy import load

REPOSITORY = "accounts-service"
POOLS = ("requirements", "coding", "testing", "security")
DEFECT_VARIABLE = "REMIT_EXAMPLE_DEFECT"
MISSING = "the examples are no part of the installed package: run this in a checkout of Remit, with `make demo`"
_LINE = f"  {REPOSITORY}: .remit/repositories/{REPOSITORY}\n"


def examples() -> Path | None:
    """The folder of the examples; None where Remit is installed without them."""
    folder = Path(remit.__file__).resolve().parent.parent / "examples"
    return folder if (folder / "password_reset" / "make_repository.py").is_file() else None


def required() -> Path:
    """The folder of the examples; SettingsError where there is none."""
    folder = examples()
    if folder is None:
        raise SettingsError(MISSING)
    return folder


def prepare(folder: Path, workflow_id: str) -> Path:
    """Make the service's repository and the workflow file in `folder`; the path of the workflow file."""
    source = required() / "password_reset" / "make_repository.py"
    spec = importlib.util.spec_from_file_location("remit_example_repository", source)
    if spec is None or spec.loader is None:
        raise SettingsError(MISSING)
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Path(module.prepare(folder, workflow_id).workflow)


def policy_for(folder: Path) -> str:
    """The shipped policy, with the service's repository where `prepare` made it in `folder`."""
    where = json.dumps(str((folder / REPOSITORY).absolute()))
    text = load.default_text()
    if _LINE not in text:
        raise SettingsError(f"the shipped policy names no repository {REPOSITORY}")
    return text.replace(_LINE, f"  {REPOSITORY}: {where}\n")


def start_workers(children: Children, defect: str) -> None:
    """Start one worker for each of the example's pools; the coding worker plants `defect`."""
    folder = required() / "password_reset" / "workers"
    for pool in POOLS:
        words = ["worker", "run", "--pool", pool, "--id", f"{pool}-1", "--exec", str(folder / pool)]
        if pool == "coding":
            words += ["--env-allow", DEFECT_VARIABLE, "--read-only", str(folder.parent / "patches")]
        children.start(f"{pool}-1", *words, env={DEFECT_VARIABLE: defect})


def start_shell_workers(children: Children, count: int = 2) -> None:
    """Start workers of the pool `shell`, which run the pipeline example's script."""
    script = required() / "pipeline" / "step.sh"
    for number in range(1, count + 1):
        name = f"shell-{number}"
        children.start(name, "worker", "run", "--pool", "shell", "--id", name, "--exec", str(script))


def start_copy_reviewer(children: Children) -> None:
    """Start the worker of the copy review, with its two tools."""
    config = required() / "copy_review" / "worker.yaml"
    children.start("copy-review-1", "worker", "run", "--config", str(config))
