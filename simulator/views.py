"""Law 9: projecting in pieces, torn and repeated, gives what a rebuild gives, and its totals are those of the log."""

import shutil
import tempfile
from decimal import Decimal
from functools import cache
from pathlib import Path

from remit.log.protocols import Reader
from remit.reading import Copy, open_copy

from .laws import hold
from .parts import batches, compare, positions, rebuild, store
from .plan import dice
from .watch import Watch
from .world import World

LAW = "9 (projection)"
TOTALS = """SELECT (SELECT count(*) FROM workflows WHERE status = 'accepted'),
    (SELECT coalesce(sum(cost_gbp), 0) FROM costs)"""


def check(world: World) -> None:
    """Project the world's log in two ways, and compare."""
    with tempfile.TemporaryDirectory(prefix="remit-simulated-") as folder:
        pieces, whole = Path(folder, "pieces.duckdb"), Path(folder, "whole.duckdb")
        for each in (pieces, whole):
            shutil.copy(_empty(), each)
        _in_pieces(world, pieces)
        rebuild.build(world.ground.log, whole)
        with open_copy(pieces) as copy:
            found = _differences(copy, whole)
            hold(not found, LAW, f"projected in pieces and rebuilt differ: {found}")
            _totals(copy, world.watch)


_kept = tempfile.TemporaryDirectory(prefix="remit-simulated-")


@cache
def _empty() -> Path:
    """A database without rows, made once for each process: making its tables takes longer than all the rest."""
    path = Path(_kept.name, "empty.duckdb")
    with store.Store(path) as made:
        made.checkpoint()
    return path


def _in_pieces(world: World, path: Path) -> None:
    """A few records at a time; now and then the projector is killed before it commits."""
    chance, more = dice("views", world.plan.seed), True
    while more:
        reader = world.ground.log.reader()
        with store.Store(path) as held:
            stored = {partition: each.next_offset for partition, each in held.progress.items()}
            begun = positions.start(reader, stored, world.ground.log.partitions)
            reader.assign(begun.positions)
            for _ in range(chance.randint(1, 3)):
                more = _piece(world, held, reader, list(begun.positions), chance.randint(5, 200))
            reader.poll(20, 0.0)  # read, and lost with the process


def _piece(world: World, held: store.Store, reader: Reader, places: list[object], size: int) -> bool:
    records = reader.poll(size, 0.0)
    at = {each: reader.position(each) for each in places}  # type: ignore[arg-type]
    held.commit(batches.batch_of(held, records, world.ground.log.partitions), at)  # type: ignore[arg-type]
    return bool(records)


def _differences(copy: Copy, whole: Path) -> str:
    with open_copy(whole) as other:
        if compare.digest(copy) == compare.digest(other):
            return ""
    copy.attach(whole, "whole")
    return "; ".join(map(str, compare.compare(copy, "whole"))) or "the digests"


def _totals(copy: Copy, watch: Watch) -> None:
    ((accepted, cost),) = copy.query(TOTALS).rows
    right = sum(each.status.value == "accepted" for each in watch.workflows())
    hold(accepted == right, LAW, f"the views show {accepted} accepted workflows, the log {right}")
    spent = sum((each.cost for each in watch.books.values()), Decimal(0))
    hold(Decimal(cost) == spent, LAW, f"the views show a cost of {cost}, the log {spent}")
