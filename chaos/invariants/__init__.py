"""What must hold after a run, each checked on the log alone: a name, and the violations found, one line each."""

from collections.abc import Callable

from chaos.history import History, Key
from chaos.invariants import books, inputs, order, outcomes

CHECKS: dict[str, Callable[[History, list[Key]], list[str]]] = {
    "every workflow ended, or says why not": outcomes.ended,
    "each accepted once": outcomes.accepted_once,
    "evidence at its subject": outcomes.evidence,
    "one offer for each dispatch": outcomes.offers,
    "sequences without gap or repeat": order.sequences,
    "no effect of a zombie": order.zombies,
    "fold without conflict": order.folds,
    "every input decided once": inputs.decided_once,
    "every cause is on the log": inputs.caused,
    "budgets are the sum of settlements": books.budgets,
}
