"""The script's supervisor process: consume, one step of logic each, one transaction per batch with its offsets."""

import gc

from confluent_kafka import Consumer, Message, Producer, TopicPartition

from benchmarks.floor.connection import CONSUMER, PRODUCER, Given, batch, given, now, until_stopped
from benchmarks.floor.events import Event, decode, encode, inspection_of
from benchmarks.floor.logic import Logic, Out


def main() -> None:
    """Serve until SIGTERM."""
    stop, found = until_stopped(), given()
    logic = Logic(full=found.full)
    consumer = Consumer(found.client(CONSUMER | {"group.id": f"{found.prefix}supervisors"}))
    settings = {"transactional.id": f"{found.prefix}s1", "retry.backoff.ms": 20}
    producer = Producer(found.client(PRODUCER | settings))
    inspector = Producer(found.client(PRODUCER))
    producer.init_transactions()
    inputs = ["contracts", "results", *(["leases", "inspections"] if found.full else [])]
    consumer.subscribe([found.prefix + topic for topic in inputs])
    gc.collect()
    gc.freeze()
    while not stop.is_set():
        if messages := batch(consumer):
            requests = _step(found, logic, consumer, producer, messages)
            for request in requests:
                _produce(found, inspector, "inspections", _key(request), inspection_of(request, now()))
        inspector.poll(0)
    consumer.close()


def _step(found: Given, logic: Logic, consumer: Consumer, producer: Producer, messages: list[Message]) -> list[Event]:
    producer.begin_transaction()
    offsets: dict[tuple[str, int], int] = {}
    written: Out = []
    for message in messages:
        topic, partition, offset = message.topic() or "", message.partition() or 0, message.offset() or 0
        short = topic.removeprefix(found.prefix)
        written += logic.take(short, decode(short, message.value() or b""), (partition, offset), now())
        offsets[topic, partition] = offset + 1
    for short, key, event in written:
        _produce(found, producer, short, key, event)
    producer.flush()
    positions = [TopicPartition(topic, partition, offset) for (topic, partition), offset in offsets.items()]
    producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata())
    producer.commit_transaction()
    return [event for _, _, event in written if event["kind"] == "inspection_requested"]


def _produce(found: Given, producer: Producer, topic: str, key: bytes, event: Event) -> None:
    producer.produce(found.prefix + topic, key=key, value=encode(topic, event))


def _key(event: Event) -> bytes:
    return f"bench/{event['workflow_id']}".encode()


if __name__ == "__main__":
    main()
