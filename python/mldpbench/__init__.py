"""Measure word-level metric differential privacy for text, from Python.

The work is done by the program ``mldp``. Standard library only; rows become a DataFrame where pandas is there.
"""

import importlib.metadata
from typing import Any

from ._mapper import Mapper, mapper
from ._mechanism import Mechanism
from ._program import MldpError, program
from ._rank import Ranking, rank
from ._roles import attacker, measurement, mechanism
from ._rows import Figure, Rows, records
from ._studies import compare, evaluate, figures, run

__all__ = ["Figure", "Mapper", "Mechanism", "MldpError", "Privatizer", "Ranking", "Rows", "attacker", "compare",
           "evaluate", "figures", "mapper", "measurement", "mechanism", "program", "rank", "records", "run"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name != "Privatizer":  # the one thing that needs scikit-learn
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from ._privatizer import Privatizer
    except ImportError as missing:
        raise MldpError(f"Privatizer: this Python has no scikit-learn ({missing})", 2) from None
    return Privatizer


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


def _version() -> str:
    """The version that pip installed; that of a folder on PYTHONPATH is not known."""
    try:
        return importlib.metadata.version("mldpbench")
    except importlib.metadata.PackageNotFoundError:
        return "0.dev0+unknown"
