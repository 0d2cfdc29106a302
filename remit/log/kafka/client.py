"""What every Kafka client of ours is configured with. Only `remit.log.kafka` imports it.

librdkafka's own lines go to the logger `remit.kafka`, which prints nothing unless somebody gives it a handler.
"""

import logging
from typing import Any

from remit.errors import SettingsError
from remit.settings import BOOTSTRAP_VARIABLE, Settings

logger = logging.getLogger("remit.kafka")
logger.addHandler(logging.NullHandler())


def client_config(settings: Settings) -> dict[str, Any]:
    """Connection part of a client's configuration, in librdkafka's names; SettingsError without a cluster."""
    if settings.bootstrap is None:
        raise SettingsError(f"{BOOTSTRAP_VARIABLE}: no cluster is named and no embedded broker was started")
    return {
        "bootstrap.servers": settings.bootstrap,
        # The default re-bootstraps after an outage, upon which a transaction's calls hung for a minute.
        "metadata.recovery.strategy": "none",
        "logger": logger,
        **_security(settings),
    }


def _security(settings: Settings) -> dict[str, str]:
    password = settings.sasl_password
    passed = {
        "security.protocol": settings.security_protocol,
        "sasl.mechanism": settings.sasl_mechanism,
        "sasl.username": settings.sasl_username,
        "sasl.password": password.get_secret_value() if password else None,
        "ssl.ca.location": settings.ssl_ca_location,
        "ssl.certificate.location": settings.ssl_certificate_location,
        "ssl.key.location": settings.ssl_key_location,
    }
    return {name: str(value) for name, value in passed.items() if value is not None}
