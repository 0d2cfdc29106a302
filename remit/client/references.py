"""Looks up what a document refers to: commits in the policy's repositories, files beside the workflow file.

`remit.client.submission` and `amending` import it.
"""

import os
import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from remit.artefacts import ArtefactStore
from remit.contract.resolve import resolve
from remit.errors import ArtefactError, WorkspaceError
from remit.policy.model import Policy
from remit.redaction import finds

GIT_S = 30.0


def resolved(document: Mapping[str, Any], policy: Policy, store: ArtefactStore, folder: Path) -> dict[str, Any]:
    """The document with every reference at a version; `folder` is where `file://` counts from.

    Raises ContractInvalidError with every reference that can't be resolved; files are stored on the way.
    """
    return resolve(
        document,
        resolve_commit=partial(full_commit, policy.repositories),
        store_file=partial(store_file, store, folder),
        find_alias=store.named,
        schemes=policy.reference_schemes,
    )


def full_commit(repositories: Mapping[str, str], name: str, revision: str) -> str:
    """The whole hash of a commit or branch of the policy's repository; WorkspaceError if there is none.

    A repository that is no folder of this machine is asked for its branches and tags; it tells nothing of short hashes.
    """
    location = repositories.get(name)
    if location is None:
        raise WorkspaceError("the policy knows no such repository")
    if Path(location).is_dir():
        found = _git("-C", location, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    else:
        found = _git("ls-remote", "--exit-code", "--", location, f"refs/heads/{revision}", f"refs/tags/{revision}")
    return found.split()[0]


def _git(*words: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        ran = subprocess.run(
            ["git", *words],  # noqa: S607 - git as the PATH has it
            env=kept | {"GIT_TERMINAL_PROMPT": "0"},
            capture_output=True,
            text=True,
            timeout=GIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkspaceError(f"git can't be asked ({type(error).__name__})") from error
    if ran.returncode or not ran.stdout.strip():
        raise WorkspaceError("git knows no such revision")
    return ran.stdout


def store_file(store: ArtefactStore, folder: Path, name: str) -> tuple[str, int]:
    """Store a file that lies in or below `folder`; its SHA-256 and size.

    Raises OSError, and ArtefactError for a file elsewhere (a workflow file may come from a stranger) or with a secret.
    """
    home = folder.resolve()
    try:
        path = (home / name).resolve()
    except (ValueError, RuntimeError):  # no name of a file: a NUL, links in a circle
        raise ArtefactError("the file's name stands for no file") from None
    if not path.is_relative_to(home):
        raise ArtefactError("the file does not lie below the workflow file's folder")
    content = path.read_bytes()
    if finds(content.decode(errors="replace")):
        raise ArtefactError("the file holds what looks like a secret")
    stored = store.put(content)
    return stored.sha256, stored.size
