"""Benchmarks: each figure beside its floor, measured in the same run. No product code imports them."""
