"""Every error that Remit raises on purpose. Anyone may import it; it imports nothing.

RemitError
├── InvalidInputError        exit 2: what the caller handed in is wrong; nothing was written
│   ├── ContractInvalidError     a workflow file or bare contract; carries every fault
│   ├── PolicyInvalidError       a policy file; carries every fault
│   ├── EnvelopeInvalidError     a worker's result envelope; carries every fault
│   └── SettingsError            a flag, an environment variable or a worker's configuration
├── RefusedError             exit 1: understood, and answered no
├── UnconfirmedError         exit 3: sent, but the outcome was not read; carries the id to ask by
├── CodecError               bytes or a record that break the schema; carries where
│   └── UnknownSchemaError       written with a schema that this build doesn't know
├── PolicyUnknownError       an open workflow pins a policy that this build can't read
├── TopologyError            topics of the cluster are not as agreed
├── LogError                 the log could not be read or written
│   ├── FencedError              another writer owns this name or shard: drop all state
│   ├── StepAbortedError         the step's transaction was aborted: drop the state, take over anew
│   └── HistoryGapError          the position asked for is no longer held
├── BrokerError              the embedded broker could not be fetched, started or stopped
├── ArtefactError            the artefact store
│   ├── ArtefactMissingError     nothing stored under that hash
│   └── ArtefactMismatchError    the bytes are not those of that hash
└── WorkspaceError           a git workspace could not be made
"""

from collections.abc import Sequence


class RemitError(Exception):
    """Base of all; `exit_code` is what the command line ends with."""

    exit_code = 1


class InvalidInputError(RemitError):
    """What the caller handed in is wrong; nothing was written."""

    exit_code = 2


class FaultyDocumentError(InvalidInputError):
    """A document with faults: one precise line each, path and rule, never a value."""

    prefix = "INVALID"

    def __init__(self, faults: Sequence[str]) -> None:
        """Keep `faults`, each like `permissions.repository is required`."""
        self.faults = tuple(faults)
        super().__init__("\n".join(f"{self.prefix}: {fault}" for fault in self.faults))


class ContractInvalidError(FaultyDocumentError):
    """A workflow file or bare contract that breaks the contract gate."""

    prefix = "CONTRACT_INVALID"


class PolicyInvalidError(FaultyDocumentError):
    """A policy file that breaks its schema or contradicts itself."""

    prefix = "POLICY_INVALID"


class EnvelopeInvalidError(FaultyDocumentError):
    """A worker's result envelope that breaks its schema."""

    prefix = "ENVELOPE_INVALID"


class SettingsError(InvalidInputError):
    """A flag, an environment variable or a worker's configuration that can't work."""


class RefusedError(RemitError):
    """Understood, and answered no."""

    exit_code = 1


class UnconfirmedError(RemitError):
    """Sent, but the transition that it causes was not read in time."""

    exit_code = 3


class CodecError(RemitError):
    """Bytes or a record that break the schema; the message says where."""


class UnknownSchemaError(CodecError):
    """Written with a schema that this build's catalogue doesn't know; a newer build may read it."""


class PolicyUnknownError(RemitError):
    """An open workflow pins a policy that this build can't read; nothing was decided."""


class TopologyError(RemitError):
    """Topics of the cluster are not as agreed; the message names topic, setting, found and required."""


class LogError(RemitError):
    """The log could not be read or written."""


class FencedError(LogError):
    """Another writer owns this name or shard: drop all state."""


class StepAbortedError(LogError):
    """The step's transaction was aborted: drop the state and take the shards over anew."""


class HistoryGapError(LogError):
    """The position asked for is no longer held: topic, partition, expected and earliest offset."""


class BrokerError(RemitError):
    """The embedded broker could not be fetched, started or stopped."""


class ArtefactError(RemitError):
    """The artefact store could not be used."""


class ArtefactMissingError(ArtefactError):
    """Nothing is stored under that hash."""


class ArtefactMismatchError(ArtefactError):
    """The stored bytes are not those of the hash."""


class WorkspaceError(RemitError):
    """A git workspace could not be made."""
