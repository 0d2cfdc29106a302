"""The simulator: the real supervisor and projector over the log in memory, under seeded faults, held to the laws.

One seed is one history: single-threaded, on a clock that is moved by hand, the same in every process. It may import
the roles; nothing but the command line and the tests import it.
"""
