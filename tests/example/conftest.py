"""Fixtures of the password-reset example; each is made once for the session."""

from types import ModuleType

import pytest

from tests.example.example_bench import EXAMPLE, Bench, load


@pytest.fixture(scope="session")
def maker() -> ModuleType:
    return load(EXAMPLE / "make_repository.py")


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory, maker: ModuleType) -> Bench:
    folder = tmp_path_factory.mktemp("example")
    repository = folder / "accounts-service"
    return Bench(folder, repository, maker.make_repository(repository))


@pytest.fixture(scope="session")
def review() -> ModuleType:
    return load(EXAMPLE / "workers" / "review.py")


@pytest.fixture(scope="session")
def coding() -> ModuleType:
    """The coding worker as a module, so that its choice can be asked without a workspace."""
    return load(EXAMPLE / "workers" / "coding")
