"""Rows of results, and the files of figures."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

from ._program import MldpError

_KINDS = {**dict.fromkeys(("value", "low", "high", "floor", "ceiling", "epsilon", "x", "guarantee_epsilon",
                           "guarantee_delta", "seconds"), float),
          **dict.fromkeys(("part", "whole", "repetition", "dimension", "train_items", "test_items", "vocabulary",
                           "seed", "index"), int)}


class Rows(list[dict[str, Any]]):
    """Rows, a list of dicts. What was not measured is None."""

    def to_frame(self) -> Any:
        """The rows as a DataFrame, in which a number that was not measured is NaN.

        Returns:
            A pandas.DataFrame.

        Raises:
            MldpError: where pandas is not installed.
        """
        try:
            import pandas
        except ImportError as missing:
            raise MldpError(f"to_frame: this Python has no pandas ({missing})", 2) from None
        return pandas.DataFrame(list(self))


def records(path: str | Path) -> Rows:
    """Reads the rows of a run. One row is one quantity of one privatised text.

    Args:
        path: the folder of the run, or its results.csv(.gz).

    Returns:
        The rows.

    Raises:
        MldpError: for a file that can't be read.
    """
    file = Path(path)
    if file.is_dir():
        file = next((f for f in (file / "results.csv", file / "results.csv.gz") if f.exists()), file / "results.csv")
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rt", encoding="utf-8", newline="") as lines:
            return Rows({k: _value(k, text) for k, text in row.items()} for row in csv.DictReader(lines))
    except (OSError, ValueError) as failed:  # a ValueError of what is no number or no UTF-8
        raise MldpError(f"{file}: {failed}", 2) from None


def _value(key: str, text: str) -> Any:
    """What a column has, None for a number that was not measured."""
    if key not in _KINDS:
        return text
    return _KINDS[key](text) if text else None


class Figure:
    """A file of a figure, which a notebook shows.

    Args:
        path: of the file, SVG or PNG.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"Figure({str(self.path)!r})"

    def _repr_svg_(self) -> str | None:
        return self.path.read_text(encoding="utf-8") if self.path.suffix == ".svg" else None

    def _repr_png_(self) -> bytes | None:
        return self.path.read_bytes() if self.path.suffix == ".png" else None
