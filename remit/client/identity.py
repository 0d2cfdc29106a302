"""Who acts: until identities are authenticated the machine's word, marked as unverified. Anyone may import it."""

import getpass
import os
import socket


def who() -> str:
    """`unverified:user@host` of this process."""
    return f"unverified:{_user()}@{socket.gethostname()}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return f"uid-{os.getuid()}"
