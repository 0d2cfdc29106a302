"""Lets the contract's assertions explain themselves."""

import pytest

pytest.register_assert_rewrite("tests.log.contract")
