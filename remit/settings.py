"""What a deployment sets from outside, by environment variable or flag. Anyone may import it.

Names are `REMIT_…`, and `KAFKA_BOOTSTRAP_SERVERS` as other Kafka tools read it. A value that can't work is a
SettingsError with the variable's name and the rule, never the value: it may be a password in the wrong place.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, AliasChoices, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from remit.errors import SettingsError
from remit.topics import DEFAULT_PREFIX, PARTITIONS_ONE_MACHINE

BOOTSTRAP_VARIABLE = "KAFKA_BOOTSTRAP_SERVERS"
_PREFIX = "REMIT_"


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (LookupError, OSError, ValueError, RecursionError):  # the last for a thousand slashes
        raise ValueError("must be a time zone of the IANA database, such as Europe/London") from None
    return name


def _address(url: str) -> str:
    try:
        urlsplit(url)
    except ValueError:
        raise ValueError("must be a folder or a URL, such as s3://bucket/artefacts") from None
    return url


class Settings(BaseSettings):
    """Every setting with its default; read with `load`, which translates errors."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        env_ignore_empty=True,
        populate_by_name=True,
    )

    bootstrap: Annotated[str | None, Field(min_length=1, validation_alias=AliasChoices(BOOTSTRAP_VARIABLE))] = None
    """An existing cluster as `host:port,…`; none means the embedded broker."""
    topic_prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{0,100}$")] = DEFAULT_PREFIX
    """In front of every topic's name."""
    partitions: Annotated[int, Field(ge=1, le=1024)] = PARTITIONS_ONE_MACHINE
    """Of every sharded topic; chosen once for a log's life."""
    home: Path = Path(".remit")
    """Folder of what this machine keeps: the broker's data, artefacts, logs."""
    artefacts: Annotated[str, Field(min_length=1), AfterValidator(_address)] | None = None
    """The artefact store as a URL; see `artefact_url`."""
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] | None = None
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER"] | None = None
    sasl_username: str | None = None
    sasl_password: SecretStr | None = None
    ssl_ca_location: Path | None = None
    ssl_certificate_location: Path | None = None
    ssl_key_location: Path | None = None
    display_zone: Annotated[str, AfterValidator(_known_zone)] = "UTC"
    """In which times are shown to people; what is stored and `--json` stay UTC."""

    @model_validator(mode="after")
    def _login_is_whole(self) -> Self:
        if (self.sasl_username is None) != (self.sasl_password is None):
            raise ValueError("REMIT_SASL_USERNAME and REMIT_SASL_PASSWORD are set together or not at all")
        if (self.ssl_certificate_location is None) != (self.ssl_key_location is None):
            raise ValueError("REMIT_SSL_CERTIFICATE_LOCATION and REMIT_SSL_KEY_LOCATION are set together or not at all")
        return self

    @property
    def artefact_url(self) -> str:
        """Where artefacts are kept: the setting, else a folder below `home`."""
        return self.artefacts or (self.home.absolute() / "artefacts").as_uri()

    @property
    def zone(self) -> ZoneInfo:
        """The display zone."""
        return ZoneInfo(self.display_zone)


def load(**overrides: Any) -> Settings:  # noqa: ANN401 - validated by the model, as the environment is
    """Settings from the environment; `overrides` (flags) win, a None among them counts as not given."""
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        faults = error.errors(include_input=False, include_context=False, include_url=False)
    # Outside the handler: the driver's error carries the rejected value, and must not ride along as a context.
    raise SettingsError("\n".join(_line(fault["loc"], fault["msg"]) for fault in faults))


def _line(where: tuple[int | str, ...], rule: str) -> str:
    rule = rule.removeprefix("Value error, ")
    return f"{_variable(str(where[0]))}: {rule}" if where else rule


def _variable(field: str) -> str:
    if field in {"bootstrap", BOOTSTRAP_VARIABLE}:
        return BOOTSTRAP_VARIABLE
    return _PREFIX + field.upper()
