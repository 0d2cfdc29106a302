"""Which command lives where.

A module is imported when its command is run or its help is shown, so start-up stays quick.
"""

COMMANDS = {
    "amend": "remit.cli.amend:amend",
    "artefact": "remit.cli.artefact:artefact",
    "budget": "remit.cli.budget:budget",
    "cancel": "remit.cli.submit:cancel",
    "check": "remit.cli.check:check",
    "demo": "remit.cli.demo:demo",
    "dev": "remit.cli.dev:dev",
    "doctor": "remit.cli.doctor:doctor",
    "down": "remit.cli.broker:down",
    "evidence": "remit.cli.evidence:evidence",
    "explain": "remit.cli.explain:explain",
    "grant": "remit.cli.grant:grant",
    "history": "remit.cli.workflows:history",
    "inbox": "remit.cli.inbox:inbox",
    "init": "remit.cli.init:init",
    "keys": "remit.cli.grant:keys",
    "list": "remit.cli.query:list_",
    "logs": "remit.cli.logs:logs",
    "metrics": "remit.cli.query:metrics",
    "policy": "remit.cli.policy:policy",
    "projector": "remit.cli.projector:projector",
    "query": "remit.cli.query:query",
    "rebuild": "remit.cli.projector:rebuild",
    "resolve": "remit.cli.resolve:resolve_",
    "retry": "remit.cli.resolve:retry",
    "schemas": "remit.cli.schemas:schemas",
    "show": "remit.cli.workflows:show",
    "simulate": "remit.cli.simulate:simulate",
    "submit": "remit.cli.submit:submit",
    "supervisor": "remit.cli.supervisor:supervisor",
    "topics": "remit.cli.topics:topics",
    "up": "remit.cli.broker:up",
    "views": "remit.cli.query:views",
    "watch": "remit.cli.workflows:watch",
    "worker": "remit.cli.worker:worker",
}
"""Name -> `module:attribute` of a click command; sorted."""
