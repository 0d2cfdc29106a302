"""The client core: submits, cancels and applies policies, and waits for what that caused. The command line imports it.

Every write pins the end of its workflow's transitions first, so the answer can't be missed. It knows no role: what it
reads are transitions, as any consumer could.
"""
