"""Which command lives where.

A module is imported when its command is run or its help is shown, so start-up stays quick.
"""

COMMANDS = {
    "check": "remit.cli.check:check",
    "doctor": "remit.cli.topics:doctor",
    "down": "remit.cli.broker:down",
    "policy": "remit.cli.policy:policy",
    "schemas": "remit.cli.schemas:schemas",
    "topics": "remit.cli.topics:topics",
    "up": "remit.cli.broker:up",
}
"""Name -> `module:attribute` of a click command; sorted."""
