"""Measure word-level metric differential privacy for text, from Python.

The work is done by the program ``mldp``. Standard library only; where pandas is there, rows can be a DataFrame.
"""

from ._program import MldpError, program
from ._mechanism import Mechanism
from ._roles import attacker, measurement, mechanism
from ._studies import evaluate, figures, records, run

__all__ = ["Mechanism", "MldpError", "attacker", "evaluate", "figures", "measurement", "mechanism", "program", "records",
           "run"]
