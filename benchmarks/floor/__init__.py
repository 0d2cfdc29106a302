"""The floor of the pipeline: a plain script of its shape over Kafka, dict events, no checks. It imports no Remit."""
