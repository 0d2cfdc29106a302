"""The script's worker process: each offer is answered at once."""

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.floor.connection import CONSUMER, PARTITIONS, PRODUCER, batch, given, now, until_stopped
from benchmarks.floor.events import claim_of, decode, encode, result_of


def main() -> None:
    """Work until SIGTERM."""
    stop, found = until_stopped(), given()
    consumer = Consumer(found.client(CONSUMER | {"group.id": f"{found.prefix}workers"}))
    producer = Producer(found.client(PRODUCER))
    consumer.assign([TopicPartition(f"{found.prefix}dispatches", number, 0) for number in range(PARTITIONS)])
    while not stop.is_set():
        for message in batch(consumer):
            offer = decode("dispatches", message.value() or b"")
            key = f"bench/{offer['workflow_id']}".encode()
            if found.full:
                producer.produce(f"{found.prefix}leases", key=key, value=encode("leases", claim_of(offer, now())))
            producer.produce(f"{found.prefix}results", key=key, value=encode("results", result_of(offer, now())))
        producer.flush()
    consumer.close()


if __name__ == "__main__":
    main()
