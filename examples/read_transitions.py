"""Print `remit.transitions` decoded, with nothing but Confluent's own client. First: `remit schemas serve`."""

import os

from confluent_kafka import DeserializingConsumer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer

registry = SchemaRegistryClient({"url": os.environ.get("SCHEMA_REGISTRY_URL", "http://127.0.0.1:8081")})
settings = {"group.id": "read-transitions", "auto.offset.reset": "earliest", "isolation.level": "read_committed"}
settings |= {"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]}
consumer = DeserializingConsumer(settings | {"value.deserializer": AvroDeserializer(registry)})
consumer.subscribe([os.environ.get("REMIT_TOPIC_PREFIX", "remit.") + "transitions"])
while True:
    if record := consumer.poll(1.0):
        print(record.key().decode(), *(record.value()[name] for name in ("sequence", "kind", "task_id")), flush=True)
