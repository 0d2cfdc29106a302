"""The worker role: takes offers, runs a command on each in an isolated workspace, and reports what it observed.

It imports `remit` and no other role. `run` in `workers.service` is its entry.
"""
