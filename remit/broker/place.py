"""The files of one home folder, and what its data folder says of itself. Only `remit.broker` imports it."""

from dataclasses import dataclass
from pathlib import Path

from remit.broker.record import properties_path


@dataclass(frozen=True, slots=True)
class Place:
    """The files of one home folder."""

    home: Path

    @property
    def data(self) -> Path:
        """Kafka's own data: all that must survive."""
        return self.home.absolute() / "kafka"

    @property
    def log(self) -> Path:
        """Where the broker prints."""
        return self.home.absolute() / "broker.log"

    @property
    def log4j(self) -> Path:
        """The logging configuration."""
        return properties_path(self.home).with_name("log4j2.properties")

    @property
    def identity(self) -> dict[str, str]:
        """What Kafka wrote into `meta.properties` when it formatted the data folder; empty before that."""
        path = self.data / "meta.properties"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        return {name: value for name, found, value in (line.partition("=") for line in lines) if found}
