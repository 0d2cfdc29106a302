"""The supervisors' group in memory: eager rebalances, range assignment, static names.

Only `remit.log.memory` imports it; the caller holds the store's lock. As in Kafka's classic protocol a rebalance is
complete once every member has given up what it had, and a name that joins again takes its predecessor's shards over
without one.
"""

from dataclasses import dataclass

from remit.errors import FencedError


@dataclass(slots=True, eq=False)
class Member:
    """One process's membership; `generation` is the metadata captured at its last assignment."""

    name: str
    epoch: int = 0
    shards: frozenset[int] = frozenset()
    generation: int | None = None
    fenced: bool = False
    yielded: bool = False
    """Has given up its shards in the rebalance under way."""

    def refuse_fenced(self) -> None:
        """Raise FencedError if another process took the name."""
        if self.fenced:
            raise FencedError(f"another process took the name {self.name}")

    def give_up(self) -> None:
        """Own nothing any more."""
        if self.generation is not None:
            self.epoch += 1
            self.generation = None
            self.shards = frozenset()


class Group:
    """Who owns which shard."""

    def __init__(self, shards: int) -> None:
        """Begin without members."""
        self._shards = shards
        self._members: dict[str, Member] = {}
        self._generation = 0
        self._rebalancing = False

    def join(self, member: Member) -> None:
        """Enter; fences a member of the same name, whose shards the new one then gets."""
        predecessor = self._members.get(member.name)
        self._members[member.name] = member
        if predecessor is None:
            self._rebalance()
        elif predecessor is not member:
            predecessor.fenced = True

    def leave(self, member: Member) -> None:
        """Go; the others share what it had."""
        if self.holds(member):
            del self._members[member.name]
            self._rebalance()

    def expire(self, name: str) -> None:
        """Drop a silent member; it learns so at its next poll, and joins again."""
        if name in self._members:
            self.leave(self._members[name])

    def serve(self, member: Member) -> None:
        """What a poll does for the group: give up, join, take what was assigned.

        Raises FencedError once after the name was taken; the next poll takes it back, as a real one does.
        """
        if member.fenced:
            member.give_up()
            member.fenced = False
            raise FencedError(f"another process took the name {member.name}")
        if not self.holds(member):
            member.give_up()
            self.join(member)
        if self._rebalancing and not member.yielded:
            member.give_up()
            member.yielded = True
        if self._rebalancing and all(each.yielded for each in self._members.values()):
            self._rebalancing = False
            self._generation += 1
        if not self._rebalancing and member.generation != self._generation:
            self._assign(member)

    def holds(self, member: Member) -> bool:
        """Whether the name is this member's now."""
        return self._members.get(member.name) is member

    def accepts(self, member: Member) -> bool:
        """Whether offsets sent with the member's captured metadata are taken."""
        return self.holds(member) and member.generation == self._generation

    def _rebalance(self) -> None:
        self._rebalancing = True
        for member in self._members.values():
            member.yielded = False

    def _assign(self, member: Member) -> None:
        member.epoch += 1
        member.generation = self._generation
        member.shards = range_share(sorted(self._members), member.name, self._shards)


def range_share(names: list[str], name: str, shards: int) -> frozenset[int]:
    """Contiguous share of `name`; the first names get one more when it doesn't come out even."""
    each, more = divmod(shards, len(names))
    index = names.index(name)
    first = index * each + min(index, more)
    return frozenset(range(first, first + each + (index < more)))
