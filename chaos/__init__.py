"""Faults on real processes: many workflows, while supervisors, workers, projector, broker and store fail at random.

Run it as `python -m chaos --seconds 300 --seed 7`; it says whether it came to 100 kills over 500 workflows, and ends
with exit 1 only if an invariant does not hold. `--plant NAME` (`make chaos PLANT=unfenced SECONDS=30`) takes one guard
away from the supervisors: `repeats` forgets which inputs were decided, `unfenced` sends no offsets with a step; it ends
with exit 0 only if the run saw it. Nothing of the product imports it.
"""
