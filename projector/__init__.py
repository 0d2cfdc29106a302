"""The projector: folds the log into DuckDB and publishes a read-only copy that answers what a completion costs.

A role: it imports the `remit` core and nothing of another role, and uses relative imports inside itself.
Flow through its rooms: `service` polls → `decoding` → `fold` → `incoming` → `store` makes rows and commits → `publish`.
"""
