"""Policies are refused with every fault at once; the shipped one is sound."""

# ruff: noqa: E501  (a change and its line are read side by side)

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from remit.errors import PolicyInvalidError
from remit.policy import load

Document = dict[str, Any]


@pytest.fixture
def document() -> Document:
    """The shipped policy as plain values."""
    return dict(yaml.safe_load(load.default_text()))


def faults(document: Document) -> tuple[str, ...]:
    try:
        load.parse(json.dumps(document))
    except PolicyInvalidError as error:
        return error.faults
    return ()


def put(document: Document, path: str, value: Any) -> None:
    *holders, last = path.split("/")
    for part in holders:
        document = document.setdefault(part, {})
    if value is ...:
        del document[last]
    else:
        document[last] = value


def test_the_shipped_policy_is_sound(document: Document) -> None:
    """It parses, in YAML as shipped and written anew."""
    assert load.parse(load.default_text()) == load.parse(yaml.safe_dump(document))
    assert load.read() == load.default_text()


def test_the_hash_is_over_the_exact_text() -> None:
    """One more blank is another policy."""
    assert load.sha256("a") != load.sha256("a ")
    assert load.sha256("a") == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("schema_version", "policy-v2", "schema_version must be one of 'policy-v1'"),
        ("environment", ..., "environment is required"),
        ("limit", {}, "limit is not a known key (did you mean limits?)"),
        ("limits/max/max_token", 5, "limits.max.max_token is not a known key (did you mean max_tokens?)"),
        ("default_tenant", "a/b", "default_tenant is not an id: 1 to 128 of A-Z a-z 0-9 . _ : -"),
        ("default_owner", " ", "default_owner must name a person or a team"),
        ("reference_schemes", ["repo"], "reference_schemes[0] is Remit's own"),
        ("reference_schemes", ["No"], "reference_schemes[0] must be a scheme: a-z, then a-z 0-9 + . -"),
        ("pools/shell/permissions/repository", ["admin"], "pools.shell.permissions.repository[0] must match ^(none|read-only|execute|read-write:[A-Za-z0-9._/*-]+)$"),
        ("pools/shell/paths", ["/etc/**"], "pools.shell.paths[0] must be a glob inside the repository"),
        ("pools/shell/data_classification", "publik", "pools.shell.data_classification is not one of data_classifications (did you mean public?)"),
        ("task_types/shell/pool", "shel", "task_types.shell.pool is not a pool of this policy (did you mean shell?)"),
        ("task_types/shell/capability", "x", "task_types.shell.capability is not a capability of pool shell"),
        ("task_types/shell/tools", ["x"], "task_types.shell.tools[0] is not a tool of pool shell"),
        ("task_types/shell/permissions/database", "execute", "task_types.shell.permissions.database is more than pool shell allows"),
        ("task_types/shell/permissions/moon", "none", "task_types.shell.permissions.moon is not a resource of pool shell"),
        ("task_types/shell/risk_class", "high", "task_types.shell.risk_class must be at most low (pool shell)"),
        ("task_types/shell/outputs", {"x": "revisio"}, "task_types.shell.outputs.x is not an output kind (did you mean revision?)"),
        ("task_types/shell/output_schema", "x", "task_types.shell.output_schema is not an output schema of this policy"),
        ("task_types/shell/definition_of_done", ["x"], "task_types.shell.definition_of_done[0] has no check"),
        ("task_types/shell/limits", {"max_tokens": 200001}, "task_types.shell.limits.max_tokens must be at most 200000 (limits.max)"),
        ("commands/suite/argv", ["pytest"], "commands.suite.argv must hold {report}, where the report is to be written"),
        ("checks/x", [], "checks.x must have at least 1 entry"),
        ("checks/x", [{"id": "x", "kind": "scan", "command": "bandid"}], "checks.x[0].command is not a command of the file or the policy (did you mean bandit?)"),
        ("checks/x", [{"id": "x", "kind": "revision"}, {"id": "x", "kind": "revision"}], "checks.x[1].id stands twice"),
        ("prices/entries", {"x": {}}, "prices.entries.default is required"),
        ("limits/default/max_tokens", ..., "limits.default.max_tokens is required"),
        ("limits/max/max_depth", None, "limits.max.max_depth is required"),
        ("limits/default/max_tokens", 200001, "limits.default.max_tokens must be at most 200000 (limits.max)"),
        ("timeouts/renewal_seconds", 30, "timeouts.renewal_seconds is 30, at most half of lease_seconds, which is 30"),
        ("timeouts/lease_seconds", 0, "timeouts.lease_seconds must be at least 1"),
        ("timeouts/queue_wait_seconds", 10**10 + 1, "timeouts.queue_wait_seconds must be at most 10000000000"),
        ("limits/max/deadline_seconds", 10**18, "limits.max.deadline_seconds must be at most 10000000000"),
        ("limits/max/max_tokens", 2**64, "limits.max.max_tokens must be at most 1000000000000000"),
        ("limits/max/max_depth", 2**53 + 1, "limits.max.max_depth must be at most 1000000000000000"),
        ("output_schemas", {"x": {"type": "object", "required": ["a"], "maxProperties": 2**53 + 1}}, "output_schemas.x holds a number beyond 2**53"),
        ("timeouts/backoff_min_seconds", 61, "timeouts.backoff_min_seconds is 61, at most backoff_max_seconds, which is 60"),
    ],
)  # fmt: skip
def test_one_fault_one_line(path: str, value: Any, line: str, document: Document) -> None:
    """VALID-5: each broken rule, a misspelled limit too, has its line (LEASE-3: lease and renewal are both named)."""
    put(document, path, value)
    assert line in faults(document)


def test_all_faults_at_once(document: Document) -> None:
    """Faults come together, in file order."""
    document["pools"]["shell"]["paths"] = ["../x"]
    document["task_types"]["test"]["pool"] = "nowhere"
    document["timeouts"]["renewal_seconds"] = 40
    assert faults(document) == (
        "pools.shell.paths[0] must be a glob inside the repository",
        "task_types.test.pool is not a pool of this policy",
        "timeouts.renewal_seconds is 40, at most half of lease_seconds, which is 30",
    )


@pytest.mark.parametrize(
    ("price", "rule"),
    [
        ("0", None),
        ("0.00", None),
        ("-0", None),
        ("0.000123", None),
        ("1E+3", None),
        ("99999999999.99", None),
        (0.1 + 0.2, "must be money as text, like '0.25'"),
        (1, "must be money as text, like '0.25'"),
        (True, "must be money as text, like '0.25'"),
        ("NaN", "must be money as text, like '0.25'"),
        ("Infinity", "must be money as text, like '0.25'"),
        ("1_000", "must be money as text, like '0.25'"),
        ("-0.01", "must be at least 0"),
        ("0.0000001", "must have at most 6 decimal places"),
        ("9999999999999.99", "must have at most 12 digits before the point"),
    ],
)
def test_prices_are_exact(price: Any, rule: str | None, document: Document) -> None:
    """AVRO-5: a price is text within decimal(18,6); what is finer or larger is refused, never cut."""
    document["prices"]["entries"]["default"] = {"per_tool_call": price}
    assert faults(document) == ((f"prices.entries.default.per_tool_call {rule}",) if rule else ())


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ({"source": "a list", "usd_gbp": "0.79", "as_of": "2026-03-01"}, None),
        ({"source": "a list"}, None),
        ({"usd_gbp": "0.79"}, "as_of is required beside usd_gbp: a rate is one of a day"),
        ({"usd_gbp": "0", "as_of": "2026-03-01"}, "usd_gbp must be above 0"),
        ({"usd_gbp": 0.79, "as_of": "2026-03-01"}, "usd_gbp must be money as text, like '0.25'"),
        ({"as_of": "1 March"}, "as_of must be a day as text, like '2026-07-01'"),
        ({"as_of": "2026-02-30"}, "as_of must be a day as text, like '2026-07-01'"),
    ],
)
def test_an_exchange_rate_is_exact_and_has_its_day(said: dict[str, Any], rule: str | None, document: Document) -> None:
    """Where prices come from is recorded with the rate of which day; both may be left out."""
    document["prices"] |= said
    assert faults(document) == ((f"prices.{rule}",) if rule else ())


def test_a_fault_tells_no_value(document: Document) -> None:
    """REDACT-3: a policy that breaks beside a secret tells neither."""
    document["repositories"]["x"] = ["hunter2"]
    document["pools"]["shell"]["max_parallel"] = "hunter2"
    with pytest.raises(PolicyInvalidError) as caught:
        load.parse(yaml.safe_dump(document))
    assert caught.value.faults
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_policy_file_is_bounded(tmp_path: Path) -> None:
    """A file of 10 MB, and one that is no text, are refused by their place."""
    path = tmp_path / "policy.yaml"
    path.write_bytes(b" " * 10_000_000)
    with pytest.raises(PolicyInvalidError) as caught:
        load.read(path)
    assert caught.value.faults == ("size: 10000000 bytes, at most 262144",)
    path.write_bytes(b"a: \xff")
    with pytest.raises(PolicyInvalidError) as caught:
        load.read(path)
    assert caught.value.faults == ("not UTF-8 text (byte 3)",)
