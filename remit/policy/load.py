"""Reads policies: text to model, with every fault at once, and the policy that Remit ships.

Anyone may import it; only `read` and `default_text` touch files.
"""

from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from remit import documents, ids
from remit.errors import PolicyInvalidError
from remit.faults import lines
from remit.faults_pydantic import faults_of
from remit.policy.model import Policy
from remit.policy.rules import policy_faults


def parse(text: str) -> Policy:
    """The policy whose file (YAML or JSON) reads `text`; raises PolicyInvalidError with every fault.

    Rules that look across fields are judged once every field is right by itself.
    """
    document = documents.parse(text, is_json=text.lstrip()[:1] == "{", error=PolicyInvalidError)
    try:
        policy = Policy.model_validate(document)
    except ValidationError as error:
        faults = faults_of(error, Policy)
    else:
        faults = tuple(policy_faults(policy))
        if not faults:
            return policy
    raise PolicyInvalidError(lines(faults, document))


def sha256(text: str) -> str:
    """The hash that workflows pin: over the policy file's exact text."""
    return ids.sha256(text.encode())


def read(path: Path | None = None) -> str:
    """The text of a policy file, by default the shipped one.

    Raises PolicyInvalidError if it is too large or no text, OSError if it can't be read.
    """
    if path is None:
        return default_text()
    with path.open("rb") as file:
        data = file.read(documents.MAX_BYTES + 1)
    if len(data) > documents.MAX_BYTES:
        raise PolicyInvalidError([f"size: {path.stat().st_size} bytes, at most {documents.MAX_BYTES}"])
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise PolicyInvalidError([f"not UTF-8 text (byte {error.start})"]) from None


def default_text() -> str:
    """The text of the development policy that Remit ships."""
    return files("remit.policy").joinpath("default.yaml").read_text(encoding="utf-8")
