"""The worker's own key pair, and what of an offer's grant it does not take. Only this role imports it."""

from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit import grants
from remit.events.service import Dispatch
from remit.keys import own_key

from .config import WorkerConfig


def folder_of(config: WorkerConfig) -> Path:
    """Where a worker keeps what is its own."""
    return config.home.absolute() / "workers" / config.worker_id.replace(":", "%3A")


def key_file(config: WorkerConfig) -> Path:
    """Its private key; never handed to a handler, nor shown to it in the sandbox."""
    return folder_of(config) / "key.pem"


def worker_key(config: WorkerConfig) -> Ed25519PrivateKey:
    """Its key, made at first use; raises SettingsError."""
    return own_key(key_file(config))


def grant_faults(dispatch: Dispatch, config: WorkerConfig, public_key: str, now: datetime) -> tuple[str, ...]:
    """Why the grant of an offer is none for this worker now; empty when it is one."""
    offer = dispatch.offer
    if offer is None:
        return ()
    faults = grants.scope_faults(offer.grant, dispatch, public_key)
    if (expired := grants.expiry_fault(offer.grant, now)) is not None:
        faults = (*faults, expired)
    if config.supervisor_keys:
        trusted = [grants.read_public(each) for each in config.supervisor_keys]
        faults = (*faults, *grants.signature_faults(offer.grant, trusted))
    return faults
