"""A runner in a process of its own, for tests that kill or suspend it: FOLDER ARGV...

Each line on its standard input is a dispatch of that kind to its one attempt; `result` prints what came of it.
"""

import sys
from pathlib import Path

from remit.events.service import DispatchKind
from tests.workers.rig import Rig, dispatch, handout, offer_of


def main(folder: str, *argv: str) -> None:
    rig = Rig(Path(folder))
    with rig.working(list(argv)):
        for line in sys.stdin:
            match line.strip():
                case "offer":
                    rig.send(offer_of(handout()))
                case "result":
                    body = rig.result(offer_of(handout())).result
                    print(body.message if body else "", flush=True)  # noqa: T201 - to the test
                case kind:
                    rig.send(dispatch(DispatchKind(kind)))


if __name__ == "__main__":
    main(*sys.argv[1:])
