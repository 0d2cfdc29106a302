"""Finds what is wrong with a deployment, and names the command that mends it. The command line imports it.

Three steps: `probes` gather facts and judge nothing, `checks` judge facts and touch nothing, `examine` runs both.
Nothing is changed; one topic of its own, `_doctor`, is written to, to read the brokers' clocks.
"""

from remit.doctor.examine import Report, examine
from remit.doctor.facts import StandsStill
from remit.doctor.finding import Finding, Unchecked

__all__ = ["Finding", "Report", "StandsStill", "Unchecked", "examine"]
