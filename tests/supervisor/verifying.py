"""A small world in which verifiers run commands again: its policy, and what a verifier answers."""

from msgspec.structs import replace

from tests.supervisor.world import POLICY, World, completed, two_tasks

VERIFYING = (
    POLICY.replace(
        "  review: {capabilities: [review]}\n",
        "  review: {capabilities: [review]}\n"
        "  verifiers: {capabilities: [verify], permissions: {repository: [execute]}, risk_class: high}\n",
    ).replace(
        "  review: {pool: review, outputs: {report: value}}\n",
        "  review: {pool: review, outputs: {report: value}}\n  verify: {pool: verifiers, limits: {max_tokens: 1}}\n",
    )
    + "verification: {mode: always, types: [shell]}\n"
)


def begin(world: World) -> None:
    """Submit a workflow of two tasks, the second with a command; one worker does both, two may verify."""
    world.apply(VERIFYING)
    world.settle()
    world.worker()
    for worker_id in ("v1", "v2"):
        world.worker(worker_id, "verifiers")
    world.submit(two_tasks())
    world.settle()


def verify(world: World, *, agrees: bool) -> str:
    """One verifier's answer, and who gave it."""
    offer = world.offer("verifiers")
    world.claim(offer)
    world.settle()
    body = completed(offer, world)
    body = replace(body, usage=replace(body.usage, tokens_in=0, tokens_out=0) if body.usage else None)
    if not agrees:
        body = replace(body, evidence=tuple(replace(each, exit_status=1) for each in body.evidence))
    world.result(offer, body)
    world.settle()
    world.alive(offer.worker_id, "verifiers")
    world.settle()
    return offer.worker_id
