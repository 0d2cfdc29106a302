#!/usr/bin/env python3
"""Reviews a product's copy against a policy. It holds no data of its own: what it reads, it reads by granted tools."""

import json
import os
import subprocess
from pathlib import Path


def read(tool: str, reference: str) -> list[str]:
    """What a tool says of the thing that a reference such as `sku:A14` names, line by line."""
    name = reference.partition(":")[2]
    return subprocess.run(["remit-tool", tool, name], capture_output=True, text=True, check=True).stdout.splitlines()


def main() -> None:
    """Write the review, and the verdict that the output schema asks for."""
    inputs = json.loads(Path(os.environ["REMIT_DISPATCH"]).read_text("utf-8"))["inputs"]
    references = {each["reference"].partition(":")[0]: each["reference"] for each in inputs.values()}
    copy = read("read_product", references["sku"])
    forbidden = read("read_policy", references["policy"])
    found = [f"line {n}: {words!r}" for n, line in enumerate(copy, 1) for words in forbidden if words in line.lower()]
    review = "\n".join([f"# {references['sku']} against {references['policy']}", "", *(found or ["nothing to change"])])
    (Path(os.environ["REMIT_OUT"]) / "review.md").write_text(f"{review}\n", "utf-8")
    answer = {"status": "completed", "output": {"verdict": "change" if found else "approve"}, "evidence": []}
    Path(os.environ["REMIT_RESULT"]).write_text(json.dumps(answer), "utf-8")


if __name__ == "__main__":
    main()
