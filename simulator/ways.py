"""How a simulated worker may meet an offer: well, badly, or with a lie. Pure data; `results` makes what it sends."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Way:
    """One way. A worker claims, works for a while and sends; what differs from that stands here."""

    body: str | None = "good"  # what it sends, by name in `results.BODIES`; None: nothing
    claims: bool = True
    declines: bool = False
    late_s: float = 0.0  # waits so long before it claims
    works_s: tuple[float, float] = (0.2, 6.0)  # between claim and result
    renews: bool = True
    moves: bool = True  # its renewals show progress
    deaf: bool = False  # goes on whatever it is told
    times: int = 1  # sends the same bytes so often
    lie: str = ""  # what its envelope forges, by name in `results.LIES`
    true: bool = False  # its result meets the contract: it alone may be accepted
    weight: int = 2  # how often it is drawn
    pools: tuple[str, ...] = ()  # where it makes sense; none: everywhere


WAYS: dict[str, Way] = {
    "good": Way(true=True, weight=6),
    "quick": Way(true=True, works_s=(0.0, 0.1), weight=6),
    "slow": Way(true=True, works_s=(8.0, 30.0), weight=6),
    "long": Way(true=True, works_s=(30.0, 60.0), weight=3),
    "flood": Way(true=True, times=6, weight=4),
    "no usage": Way("no usage", true=True),
    "spawns": Way("spawns", true=True, weight=6, pools=("hands",)),
    "spawns too much": Way("spawns too much", true=True, weight=3, pools=("hands",)),
    # never heard of in time
    "ignore": Way(None, claims=False),
    "decline": Way(None, claims=False, declines=True),
    "tardy": Way(true=True, late_s=7.0, deaf=True),
    "unclaimed": Way(true=True, claims=False),
    "cut off": Way(None, renews=False),
    "hang": Way(None, moves=False, works_s=(60.0, 80.0)),
    "silent": Way(true=True, renews=False, deaf=True, works_s=(13.0, 40.0), weight=4),
    "deaf": Way(true=True, deaf=True, works_s=(5.0, 30.0), weight=4),
    # an honest failure
    "defect": Way("defect", weight=4, pools=("hands", "testers")),
    "failed": Way("failed"),
    "failed for good": Way("failed for good", weight=1),
    "incapable": Way("incapable"),
    "ambiguous": Way("ambiguous", weight=1),
    "needs review": Way("needs review", weight=1),
    "malformed": Way("malformed"),
    "untold": Way("untold"),
    "lost artefact": Way("lost artefact"),
    "undeclared": Way("undeclared"),
    "greedy": Way("greedy"),
    # a lie
    "unproven": Way("unproven"),
    "own words": Way("own words"),
    "another attempt's evidence": Way("another attempt's evidence", weight=4),
    "another worker's evidence": Way("another worker's evidence", weight=4),
    "another task's evidence": Way("another task's evidence", weight=4),
    "another subject": Way("another subject", weight=4),
    "another time": Way("another time"),
    "exit 1": Way("exit 1"),
    "no exit": Way("no exit"),
    "no case": Way("no case"),
    "wrong hash": Way("wrong hash", weight=1),
    "stale inputs": Way("stale inputs"),
    "negative usage": Way("negative usage"),
    "secret words": Way("secret words", weight=2),
    "secret artefact": Way("secret artefact", weight=1),
    "no such commit": Way("no such commit", pools=("coders",)),
    "unrelated commit": Way("unrelated commit", pools=("coders",)),
    "foreign paths": Way("foreign paths", pools=("coders",)),
    "wrong token": Way(lie="wrong token", weight=4),
    "wrong worker": Way(lie="wrong worker", weight=4),
    "wrong process": Way(lie="wrong process"),
    "wrong contract": Way(lie="wrong contract"),
    "unasked second": Way(true=True, lie="unasked second"),
    "two stories": Way(true=True, lie="two stories", weight=4),
}
