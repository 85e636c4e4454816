"""A mechanism as a function of tables, for engines that send functions to their workers."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable

from ._mechanism import Mechanism
from ._program import MldpError, listed
from ._shared import SharedService

_Texts = Callable[[str, list[Any]], list[Any]]  # the privatised texts of a column


def mapper(*, mechanism: str, epsilon: float, embedding: str, text: str | Sequence[str],
           key: str | os.PathLike[str] | None = None, release: str | None = None, id: str | None = None,
           parameters: Mapping[str, object] | None = None, **options: object) -> Mapper:
    """Makes a function that privatises columns of tables, for Spark, Ray, datasets, Dask, polars and pandas.

    With a key the text of a row depends on neither its part, nor their order, nor a second try of a task. Without one
    each call draws anew, also that of a task which an engine runs again.

    Args:
        mechanism, epsilon, embedding, parameters: those of :class:`Mechanism`.
        text: the column that is privatised, or several.
        key: a file of ``mldp key``, which each worker reads by itself.
        release: the name of the release that the key is used for.
        id: the column that tells rows apart, of texts or whole numbers; needed with a key.
        options: other keywords of :class:`Mechanism`; a seed would repeat the noise in every part.

    Returns:
        A function of one table.

    Raises:
        MldpError: for a key without an id, or a seed.
    """
    if "seed" in options or "seeds" in options:
        raise MldpError("seed: a mapper has none, as it would repeat the noise in every part: give a key and an id", 2)
    if (key is None) != (id is None):
        raise MldpError("key and id: one needs the other", 2)
    columns = [text] if isinstance(text, str) else listed("text", text)
    if not columns or not all(isinstance(column, str) for column in columns):
        raise MldpError(f"text = {text!r}: must be the name of a column, or several", 2)
    if id in columns:
        raise MldpError(f"id = {id!r}: is privatised: the id is another column", 2)
    of_mechanism = {"name": mechanism, "epsilon": epsilon, "embedding": embedding, "parameters": parameters,
                    "key": None if key is None else os.fspath(key), "release": release, **options}
    return Mapper(of_mechanism, columns, id)


class Mapper:
    """What :func:`mapper` makes. It can be pickled: a worker opens one mechanism for all copies of the same arguments.

    Args:
        of_mechanism: keywords of :class:`Mechanism`.
        columns: those that are privatised.
        id: the column that tells rows apart, or None.

    Attributes:
        missing: the number of values without text that this process has passed through.
    """

    def __init__(self, of_mechanism: dict[str, Any], columns: list[str], id: str | None) -> None:
        self._of_mechanism = of_mechanism
        self._columns = columns
        self._id = id

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._of_mechanism, self._columns, self._id)

    @property
    def missing(self) -> int:
        return self._mechanism().missing

    def __call__(self, table: Any) -> Any:
        """Privatises the columns of a table.

        Args:
            table: a DataFrame of pandas or polars, a Table or RecordBatch of pyarrow, a dict of columns, or an
                iterator of such tables.

        Returns:
            A table of the same kind, with the other columns as they are; of an iterator an iterator.

        Raises:
            MldpError: for another kind of table, a column that is not there, or what ``Mechanism.privatise`` refuses.
        """
        library = type(table).__module__.partition(".")[0]
        if isinstance(table, Mapping):
            return self._mapping(table)
        if library == "pandas" and hasattr(table, "columns"):
            return self._pandas(table)
        if library == "pyarrow" and hasattr(table, "schema") and hasattr(table, "set_column"):
            return self._arrow(table)
        if library == "polars" and hasattr(table, "with_columns") and hasattr(table, "get_column"):
            return self._polars(table)
        if isinstance(table, Iterator):
            return map(self, table)
        raise MldpError(f"a {type(table).__name__}: must be a table of pandas, polars or pyarrow, a dict of columns, or "
                        "an iterator of them", 2)

    def _mechanism(self) -> Mechanism:
        """The one of this process, which a fork leaves to its parent."""
        arguments = repr(sorted(self._of_mechanism.items(), key=lambda item: item[0]))
        with _lock:
            if arguments not in _open:
                _open[arguments] = _MachinesMechanism(**self._of_mechanism)
            return _open[arguments]

    def _private(self, columns: Sequence[str], values: Callable[[str], list[Any]]) -> dict[str, list[Any]]:
        """The privatised texts of the columns of a table that has ``columns``."""
        for name in [*self._columns, *([] if self._id is None else [self._id])]:
            if name not in columns:
                raise MldpError(f"no column {name!r}: the table has {list(columns)}", 2)
        ids = None if self._id is None else values(self._id)
        mechanism = self._mechanism()
        return {name: mechanism.privatise(values(name), missing="keep", ids=ids, column=name)
                for name in self._columns}

    def _mapping(self, table: Mapping[str, Any]) -> dict[str, Any]:
        private = self._private(list(table), lambda name: _plain(table[name]))
        return {name: _like(column, private[name]) if name in private else column for name, column in table.items()}

    def _pandas(self, table: Any) -> Any:
        private = self._private(list(table.columns), lambda name: _plain(table[name]))
        new = table.copy(deep=False)
        for name, texts in private.items():
            new[name] = type(table[name])(texts, index=table.index, dtype=table[name].dtype)
        return new

    def _arrow(self, table: Any) -> Any:
        import pyarrow

        private = self._private(table.schema.names, lambda name: table.column(name).to_pylist())
        for name, texts in private.items():
            at = table.schema.get_field_index(name)
            field = table.schema.field(at)
            plain = field.type.value_type if pyarrow.types.is_dictionary(field.type) else field.type
            texts = pyarrow.array(texts, type=plain)
            table = table.set_column(at, field, texts.cast(field.type))
        return table

    def _polars(self, table: Any) -> Any:
        import polars

        private = self._private(table.columns, lambda name: table.get_column(name).to_list())
        return table.with_columns(*(polars.Series(name, texts, dtype=table.schema[name])
                                    for name, texts in private.items()))


class _MachinesMechanism(Mechanism):
    """One whose process all workers of the machine share."""

    def _new_service(self) -> SharedService:
        return SharedService([*self._arguments, f"--epsilon={self.epsilon!r}"])  # one process has one at a time


_lock = threading.Lock()
_open: dict[str, Mechanism] = {}


def _forked() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)


def _plain(column: Any) -> list[Any]:
    """The values of a column, as Python has them."""
    for method in ("to_pylist", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return listed("a column", column)


def _like(column: Any, texts: list[Any]) -> Any:
    """Texts as a column of the kind of another."""
    library = type(column).__module__.partition(".")[0]
    if library == "numpy":
        import numpy

        kind = column.dtype if column.dtype.kind in "OT" else None  # one of texts of a length can't hold longer ones
        new = numpy.empty(len(texts), dtype=kind or object)
        new[:] = texts
        return new if kind else new.astype(str)
    if library == "pyarrow":
        import pyarrow

        return pyarrow.array(texts, type=column.type)
    if library == "pandas":
        return type(column)(texts, index=column.index, dtype=column.dtype)
    return texts
