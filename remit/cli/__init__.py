"""The command line: `main` is what the `remit` script runs.

Outermost ring: it may import everything, nothing imports it.
"""

from remit.cli.entry import main

__all__ = ["main"]
