"""How a writing or reading command answers when it can't do as asked: on `--json`, with one document even then.

Only `remit.cli` imports it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from remit.cli.output import print_json
from remit.errors import FaultyDocumentError, RemitError

OUTCOMES = {1: "refused", 2: "invalid", 3: "unconfirmed"}


@contextmanager
def one_document(*, as_json: bool) -> Iterator[None]:
    """Whatever goes wrong inside is also the one JSON document on stdout; the error itself goes on its way."""
    try:
        yield
    except RemitError as error:
        if as_json:
            print_json(_failure(error))
        raise


def _failure(error: RemitError) -> dict[str, Any]:
    faults = {"faults": list(error.faults)} if isinstance(error, FaultyDocumentError) else {}
    return {"outcome": OUTCOMES.get(error.exit_code, "failed"), "message": str(error), **faults}
