"""The policy of simulated workflows: short waits, so that a history of minutes shows every deadline. Pure data."""

import json

from remit import documents

LEASE_S = 12
_TEXT = """
schema_version: policy-v1
environment: development
default_tenant: default
default_owner: user:priya
repositories: {svc: /srv/svc}
pools:
  hands: {capabilities: [work], permissions: {repository: [none]}}
  coders: {capabilities: [code], permissions: {repository: ["read-write:*"]}}
  testers: {capabilities: [test], permissions: {repository: [execute]}}
  verifiers: {capabilities: [verify], permissions: {repository: [execute]}, risk_class: high}
task_types:
  work: {pool: hands, outputs: {report: value}}
  code: {pool: coders}
  test: {pool: testers}
  verify: {pool: verifiers}
commands:
  suite: {argv: [pytest, "{report}"], report: junit, retest: [pytest, "{report}", "{failing}"]}
prices:
  entries:
    default: {per_1k_tokens_in: "1.00", per_1k_tokens_out: "2.00", per_tool_call: "0.01", per_worker_second: "0.0001"}
limits:
  max: {deadline_seconds: 86400, max_tokens: 1000000, max_tool_calls: 1000, max_cost_gbp: "1000", max_attempts: 5,
    max_reworks: 5, max_tasks: 100, max_depth: 5, max_workers: 100, max_turns: 100}
  default: {deadline_seconds: 400, max_tokens: 60000, max_tool_calls: 300, max_cost_gbp: "90", max_attempts: 3,
    max_reworks: 2, max_tasks: 20, max_depth: 1, max_workers: 10, max_turns: 50}
timeouts: {offer_seconds: 6, lease_seconds: 12, renewal_seconds: 3, no_progress_seconds: 25, queue_wait_seconds: 90,
  liveness_seconds: 20, backoff_min_seconds: 1, backoff_max_seconds: 4, inspection_seconds: 10, correction_seconds: 10,
  grant_grace_seconds: 8}
"""


def _as_json(text: str) -> str:
    """The same policy in a form that is read in a tenth of the time."""
    return json.dumps(documents.parse(text, is_json=False))


POLICY = _as_json(_TEXT)
DEARER = _TEXT.replace('per_1k_tokens_in: "1.00"', 'per_1k_tokens_in: "1.50"')
VERIFYING = _as_json(DEARER + "verification: {mode: always, types: [work, test]}\n")
"""Other prices, and what workers' runners recorded is run again by verifiers."""
