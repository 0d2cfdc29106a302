"""Bring Django and one test database, a file of its own, up for the whole test run."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import django
import pytest
from django.test.utils import (
    setup_databases,
    setup_test_environment,
    teardown_databases,
    teardown_test_environment,
)

os.environ["DJANGO_SETTINGS_MODULE"] = "project.settings_test"


@pytest.fixture(scope="session", autouse=True)
def database() -> Iterator[None]:
    from django.db import connection  # noqa: PLC0415 (needs the settings)

    with tempfile.TemporaryDirectory(prefix="accounts-") as folder:
        connection.settings_dict["TEST"]["NAME"] = str(Path(folder, "test.sqlite3"))
        setup_test_environment()
        databases = setup_databases(verbosity=0, interactive=False)
        yield
        teardown_databases(databases, verbosity=0)
        teardown_test_environment()


django.setup()
