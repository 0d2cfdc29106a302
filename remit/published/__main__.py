"""Writes the published schemas anew from the models: `python -m remit.published`."""

import json
from pathlib import Path

from remit.published import MODELS, generated

for name in MODELS:
    text = json.dumps(generated(name), indent=2, ensure_ascii=False) + "\n"
    Path(__file__).with_name(f"{name}.json").write_text(text, encoding="utf-8")
