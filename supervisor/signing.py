"""Signs the grants of offers with the supervisor's own key. Pure once the key is read; only this role imports it."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit import grants
from remit.events.service import Dispatch

Sign = Callable[[Dispatch], Dispatch]


def unsigned(dispatch: Dispatch) -> Dispatch:
    """As it is."""
    return dispatch


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs with one key, for workers by the keys that they registered."""

    key: Ed25519PrivateKey
    worker_key: Callable[[str], str | None]  # worker id to its registered public key

    def __call__(self, dispatch: Dispatch) -> Dispatch:
        """An offer with its grant bound to the worker's key and signed; any other dispatch as it is."""
        offer = dispatch.offer
        if offer is None:
            return dispatch
        bound = msgspec.structs.replace(offer.grant, worker_key=self.worker_key(dispatch.worker_id))
        grant = grants.signed(bound, self.key)
        return msgspec.structs.replace(dispatch, offer=msgspec.structs.replace(offer, grant=grant))
