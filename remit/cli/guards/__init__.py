"""Demos of one guard each: a short real run in which something goes wrong, what was tried, and what stopped it.

`remit demo NAME` runs one; only it imports this package.
"""
