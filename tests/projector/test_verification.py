"""Verifications in the views: counted apart from the work that they verify, their disagreements a rate of its own."""

from decimal import Decimal
from pathlib import Path

from tests.projector.driving import ask, ask_one, project
from tests.supervisor.verifying import begin, verify
from tests.supervisor.world import World


def test_disagreements_are_a_metric(tmp_path: Path) -> None:
    """One that disagrees and one that agrees: half; the rates of the work itself and its cost know what they knew."""
    world = World(tmp_path)
    begin(world)
    for _ in range(2):
        world.run(world.offer())
    verify(world, agrees=False)
    verify(world, agrees=True)
    world.close()
    path = tmp_path / "db.duckdb"
    project(world.log, path)
    row = ask_one(path, "FROM metrics WHERE tenant_id IS NULL")
    assert (row["verifications"], row["verification_disagreements"]) == (2, 1)
    assert row["verification_disagreement_rate"] == Decimal("0.500000")
    assert (row["attempts"], row["retries"], row["accepted_tasks"], row["first_pass_tasks"]) == (2, 0, 2, 2)
    assert row["cost_gbp"] == sum(cost for (cost,) in ask(path, "SELECT cost_gbp FROM attempt_costs"))
    assert ask(path, "SELECT count(*) FROM attempt_costs") == [(4,)]
    assert ask(path, "SELECT verification_disagreements FROM verification WHERE tenant_id IS NULL") == [(1,)]
