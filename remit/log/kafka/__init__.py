"""The log on Apache Kafka: the only place besides the broker's start that imports a Kafka client."""
