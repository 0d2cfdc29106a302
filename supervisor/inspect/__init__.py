"""Inspection is where the supervisor's I/O lives: it finds facts about a result, and judges nothing."""
