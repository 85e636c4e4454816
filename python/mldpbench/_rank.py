"""A function beside built-in mechanisms, at equal privacy."""

from __future__ import annotations

import json
import re
import secrets
import shlex
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._fingerprint import Unseen, fingerprint
from ._program import MldpError, call, options_of
from ._roles import Command
from ._rows import Figure, Rows


class Ranking(Rows):
    """Mechanisms at equal privacy, with their table and figure.

    A row has ``level`` of the privacy, ``dataset``, ``mechanism`` and whether it is ``guaranteed`` between any two
    words, ``epsilon``, ``accuracy`` in % with ``low`` and ``high``, ``different_from``, and the ``table`` that it is
    of, one for each classifier. Those of the data set ``all`` are of the tests over all data sets.

    Args:
        rows: of ``mldp run --align``, in that form.
        files: that it wrote, tables and figures.
    """

    def __init__(self, rows: Iterable[dict[str, Any]], files: Sequence[str]) -> None:
        super().__init__(rows)
        self.files = [*files]

    def to_latex(self) -> str:
        """The tables in LaTeX.

        Returns:
            The text of all of them, which needs booktabs and graphicx.
        """
        return "\n".join(Path(f).read_text(encoding="utf-8") for f in self.files if f.endswith(".tex"))

    def figure(self) -> Figure:
        """Use against privacy, with all that was measured.

        Returns:
            The figure, which a notebook shows.
        """
        return next(Figure(f) for f in self.files if f.endswith(".svg"))


def rank(mechanism: Command, data: str | Sequence[str | Path], against: Sequence[str] = (),
         em: float | Sequence[float] = 0.5, *, out: str | Path | None = None, **options: object) -> Ranking:
    """Brings a function to equal privacy with built-in mechanisms, and measures what each keeps.

    Args:
        mechanism: a function with ``@mechanism`` before it.
        data: tasks such as ``["agnews@1"]``, or one study.
        against: built-in mechanisms, each at its epsilon with that privacy.
        em: the share of words that a Bayes adversary misidentifies, 0 to 1; several are several levels.
        out: the folder of the run; what is finished there is not run again.
        options: those of ``mldp run``, such as ``repetitions=3``.

    Returns:
        A row for each level, data set and mechanism.

    Raises:
        MldpError: for what is no such function, and for what mldp refuses.
    """
    if not isinstance(mechanism, Command):
        raise MldpError(f"{mechanism!r} is no function with @mechanism before it", 2)
    tasks = [data] if isinstance(data, (str, Path)) else [*data]
    levels = [float(em)] if isinstance(em, (int, float)) else [float(level) for level in em]
    name = mechanism.hello["name"]
    try:
        code = fingerprint(mechanism.function)
    except Unseen as reason:
        code = secrets.token_hex(32)  # equal to none that was kept
        warnings.warn(f"{name}: its results are not kept for another call, as {reason} can't be seen", stacklevel=2)
    relay = _relay_in(Path(out or "runs"), name)
    python = "python3" if shutil.which("python3") else sys.executable  # by name, so that the file gives the name
    given = options_of({**options, "align": "em=" + ",".join(f"{level:g}" for level in levels), "mechanism": against,
                        "out": out, "command": shlex.join([python, str(relay), "{vectors}"])})
    with mechanism.listening(code) as port:
        said = json.loads(call("run", ",".join(map(str, tasks)), "--json", *given,
                               environment={"MLDP_FUNCTION": str(port)}))
    rows = (row for table, wide in said["tables"].items() for one in wide for row in _rows(table, one, levels))
    return Ranking(rows, said["files"])


def _relay_in(folder: Path, name: str) -> Path:
    """A copy of _relay.py with the name of a mechanism, which tables show."""
    relay = folder / f"{name}.py"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        relay.write_bytes(Path(__file__).with_name("_relay.py").read_bytes())
    except OSError as failed:
        raise MldpError(f"{relay}: {failed.strerror or failed}", 2) from None
    return relay


_EPSILON = ", ε"
_MARKS = "†‡"  # of names without a guarantee, or with one between some words only


def _rows(table: str, wide: Mapping[str, Any], levels: Sequence[float]) -> Iterator[dict[str, Any]]:
    """A row for each data set of a row of ``mldp run --align``, whose columns begin with names of data sets.

    Args:
        table: the name of its table, which has the level where there are several.
        wide: the row.
        levels: those that were asked for.

    Yields:
        The rows of a :class:`Ranking`.
    """
    datasets = [column.removesuffix(_EPSILON) for column in wide if column.endswith(_EPSILON)]
    tested = {column.rpartition(", ")[0]: value for column, value in wide.items()
              if ", " in column and not column.endswith(_EPSILON)}
    for dataset in [*datasets, *(name for name in tested if name not in datasets)]:
        name = wide["mechanism"].rstrip(_MARKS)
        yield {"level": _level_of(table, levels), "dataset": dataset, "mechanism": name,
               "guaranteed": name == wide["mechanism"], "epsilon": wide.get(dataset + _EPSILON), "accuracy": wide.get(dataset),
               "low": wide.get(f"{dataset} low"), "high": wide.get(f"{dataset} high"),
               "different_from": tested.get(dataset), "table": table}


def _level_of(table: str, levels: Sequence[float]) -> float:
    """The level that the name of a table has, as ``ranking-em-0.5-svm``; the only one, where there is one."""
    if len(levels) == 1:
        return levels[0]
    for level in levels:
        if re.search(rf"-{re.escape(f'{level:g}')}(-|$)", table):
            return level
    raise MldpError(f"mldp run: the table {table} has none of the levels {levels}", 1)
