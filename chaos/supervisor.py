"""`remit supervisor run` with named points in it: `python -m chaos.supervisor --name NAME`."""

import os
import sys

from remit.cli import main

from .plants import PLANTS, VARIABLE
from .points import install

if __name__ == "__main__":
    install()
    if plant := os.environ.get(VARIABLE):
        PLANTS[plant].install()
    main(["supervisor", "run", *sys.argv[1:]])
