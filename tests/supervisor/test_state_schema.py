"""What a checkpoint's state looks like is known by a number, which is raised with it."""

import msgspec

from remit.ids import digest
from supervisor.state import STATE_SCHEMA, State

SHAPES = {
    1: "148f912bfd3bba32e5ebcea2779e047081b811de1a6a219aaec49e1a0263f99f",
    2: "075ca9d1fd5cbb2527c05112a57b1f564d0774c1e968315ac21eb0c29cd03e9a",
}


def test_a_state_of_another_shape_has_another_number() -> None:
    """FLOW-3: raise STATE_SCHEMA and add the new digest here, so that no build takes another one's states for its own.

    The same goes for a change of what the fold makes of a transition, which the golden histories hold.
    """
    assert digest(msgspec.json.schema(State)) == SHAPES[STATE_SCHEMA]
