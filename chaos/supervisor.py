"""`remit supervisor run` with named points in it: `python -m chaos.supervisor --name NAME`."""

import sys

from remit.cli import main

from .points import install

if __name__ == "__main__":
    install()
    main(["supervisor", "run", *sys.argv[1:]])
