#!/usr/bin/env python3
"""The two tools of the worker: they alone see the catalogue and the policy. `tools.py product A14`."""

import sys
from pathlib import Path

DATA = Path(__file__).with_name("data")


def main(kind: str, name: str) -> int:
    """Print a product's copy, or what a policy forbids; 1 for what isn't there."""
    file = DATA / f"{name}.txt"
    if kind not in {"product", "policy"} or not name.isalnum() or not file.is_file():
        print(f"there is no such {kind}", file=sys.stderr)
        return 1
    print(file.read_text("utf-8"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
