"""How a simulated history ends early. Only this package imports it."""


class LawBrokenError(Exception):
    """A law of the design was broken: `law` says which one, the text what was found."""

    def __init__(self, law: str, found: str) -> None:
        """`law` as the design numbers it."""
        super().__init__(found)
        self.law = law


class KilledError(Exception):
    """A simulated process was killed where it stood; nothing of it goes on."""
