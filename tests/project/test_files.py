"""The project's own files: the lock, the compose file, the import contracts."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROLES = ("supervisor", "workers", "projector")


def test_the_lock_names_no_address_and_hashes_everything() -> None:
    """Whoever installs chooses the index; what is installed is fixed to the byte."""
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    assert not re.search(r"https?://|--index|--find-links|file:", lock)
    entries = re.findall(r"^[A-Za-z0-9].*(?:\n    .*)*", lock, flags=re.MULTILINE)
    assert len(entries) > 50
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_the_lock_knows_every_dependency() -> None:
    """Nothing of pyproject.toml is missing in the lock, extras and development tools included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = [
        *project["project"]["dependencies"],
        *(name for extra in project["project"]["optional-dependencies"].values() for name in extra),
        *project["dependency-groups"]["dev"],
    ]
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    locked = {name.lower().replace("_", "-") for name in re.findall(r"^([\w.-]+)==", lock, flags=re.MULTILINE)}
    names = {re.split(r"[<>=!\[;]", each)[0].strip().lower() for each in asked}
    assert names - locked == set()


def test_every_dependency_has_its_reason() -> None:
    """The decision page names each package that pyproject.toml asks users to install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    page = (ROOT / "docs/decisions/0001-dependencies.md").read_text("utf-8")
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["broker"], *extras["prices"]]
    assert [each for each in asked if re.split(r"[<>=]", each)[0] not in page] == []


def test_the_compose_file_keeps_to_the_compose_specification() -> None:
    """Valid by the specification's own schema, as check-jsonschema vendors it."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_role_is_under_the_import_contracts() -> None:
    """A role's folder that exists is among the packages that import-linter looks at."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    present = {role for role in ROLES if (ROOT / role / "__init__.py").is_file()}
    assert present - set(linter["root_packages"]) == set()
