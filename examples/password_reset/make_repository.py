"""Make the accounts service's git repository, and a workflow file that starts from its base commit.

The commit is the same on every machine: content, author and dates are fixed. Run it as
`python make_repository.py FOLDER`; it prints what it made as JSON.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BRANCH = "main"
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "*.sqlite3", ".*_cache", ".git")
WHO = {"NAME": "Northstar Metrics", "EMAIL": "accounts@northstar.example", "DATE": "2026-03-02T09:00:00+00:00"}


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What a workflow run of the example starts from."""

    repository: str  # path of the git repository
    commit: str  # full hash of the base commit
    workflow: str  # path of the workflow file, its threat model beside it


def prepare(folder: Path, workflow_id: str = "password-reset-1") -> Prepared:
    """Fill `folder` with the repository, the workflow file and the threat model.

    A folder that was filled before keeps its repository with all its branches, so a second run goes on with it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    repository = folder / "accounts-service"
    commit = make_repository(repository)
    shutil.copyfile(HERE / "threat-model.md", folder / "threat-model.md")
    workflow = folder / "workflow.yaml"
    workflow.write_text(render_workflow(commit, workflow_id), encoding="utf-8")
    return Prepared(repository=str(repository), commit=commit, workflow=str(workflow))


def make_repository(target: Path) -> str:
    """Make the repository at `target`, or bring the base commit into the one there; return the commit."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder, "accounts-service")
        commit = _commit_service(fresh)
        if target.exists():
            _git(target, "fetch", "--quiet", "--no-tags", str(fresh), BRANCH)
        else:
            shutil.copytree(fresh, target)
    return commit


def render_workflow(commit: str, workflow_id: str = "password-reset-1") -> str:
    """Return the text of the workflow file for a base commit."""
    text = (HERE / "workflow.yaml").read_text(encoding="utf-8")
    named = text.replace("workflow_id: password-reset-1\n", f"workflow_id: {workflow_id}\n")
    return named.replace("@commit:{base}", f"@commit:{commit}")


def _commit_service(folder: Path) -> str:
    shutil.copytree(HERE / "service", folder, ignore=LEFT_OUT, copy_function=shutil.copyfile)
    _git(folder, "init", "--quiet", "--template=", f"--initial-branch={BRANCH}")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message=Serve accounts: sign in, sign out, who is signed in")
    return _git(folder, "rev-parse", "HEAD")


def _git(folder: Path, *words: str) -> str:
    """Run git with nothing of the user's own settings, so that the commit depends on the content alone."""
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", "-c", "core.fileMode=false", *words],
        cwd=folder,
        env=_environment(),
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    names = {f"GIT_{role}_{part}": text for role in ("AUTHOR", "COMMITTER") for part, text in WHO.items()}
    return {**kept, **names, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


if __name__ == "__main__":
    print(json.dumps(asdict(prepare(Path(sys.argv[1]).resolve()))))
