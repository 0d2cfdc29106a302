"""Faults on real processes: many workflows, while supervisors, workers, projector, broker and store fail at random.

Run it as `python -m chaos --seconds 300 --seed 7`. Nothing of the product imports it.
"""
