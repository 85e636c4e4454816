"""Studies and evaluations, and the rows that they leave."""
from __future__ import annotations

import csv
import gzip
import importlib.util
import json
import os
import secrets
import shlex
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._fingerprint import Unseen, fingerprint
from ._program import MldpError, call, listed, options_of, texts_of
from ._roles import Command

_KINDS = {**dict.fromkeys(("value", "low", "high", "floor", "ceiling", "epsilon", "x", "guarantee_epsilon",
                           "guarantee_delta", "seconds"), float),
          **dict.fromkeys(("part", "whole", "repetition", "dimension", "train_items", "test_items", "vocabulary",
                           "seed", "index"), int)}


def records(path: str | Path, frame: bool | None = None) -> Any:
    """Reads the rows of a run. One row is one quantity of one private text.

    Args:
        path: the folder of the run, or its results.csv(.gz).
        frame: whether to return a DataFrame; None does where pandas is installed.

    Returns:
        A pandas DataFrame or a list of dicts. A number that was not measured is None (NaN in a DataFrame).

    Raises:
        MldpError: for a file that can't be read.
    """
    file = Path(path)
    if file.is_dir():
        file = next((f for f in (file / "results.csv", file / "results.csv.gz") if f.exists()), file / "results.csv")
    try:
        with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8", newline="") as lines:
            return _framed([{k: _value(k, text) for k, text in row.items()} for row in csv.DictReader(lines)], frame)
    except (OSError, ValueError) as failed:  # a ValueError of what is no number or no UTF-8
        raise MldpError(f"{file}: {failed}", 2) from None


def _framed(rows: list[dict[str, Any]], frame: bool | None) -> Any:
    if frame is False or frame is None and importlib.util.find_spec("pandas") is None:
        return rows
    import pandas
    return pandas.DataFrame(rows)


def _value(key: str, text: str) -> Any:
    return (_KINDS[key](text) if text else None) if key in _KINDS else text


def run(study: str | Path | Mapping[str, Any], *, out: str | Path | None = None, frame: bool | None = None,
        **options: object) -> Any:
    """Runs a study; finished units are not run again.

    Args:
        study: a name, a YAML file, or its keys as a dict, whose files are those of the working directory.
        out: the folder of the results, by default ``runs/NAME``.
        frame: as of :func:`records`.
        options: those of ``mldp run``, such as ``repetitions=1``.

    Returns:
        The rows.

    Raises:
        MldpError: for what mldp refuses, and for a dict that is no JSON.
    """
    if isinstance(study, Mapping):
        folder = Path(out or Path("runs") / str(study.get("name")))
        name: str | Path = folder / "study.yaml"
        try:
            text = json.dumps(_moved(study, folder), ensure_ascii=False, default=_plain)  # JSON is YAML
        except (TypeError, ValueError) as failed:
            raise MldpError(f"study: {failed}", 2) from None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
        except (OSError, ValueError) as failed:
            raise MldpError(f"{name}: {failed}", 2) from None
    else:
        name = study
        folder = Path(out or Path("runs") / Path(study).stem)
    call("run", str(name), "--out", str(folder), *options_of(options))
    return records(folder, frame)


def _plain(value: Any) -> Any:
    """What json does not know: numbers and arrays of numpy, paths."""
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value is a {type(value).__name__}: must be a text, a number, a list or a dict")


def _moved(value: Any, folder: Path, key: str = "", within: str = "") -> Any:
    """A part of a study for a file in a folder: it names the files of the working directory.

    Args:
        value: the part.
        folder: where the file will be.
        key: that of the part.
        within: that of the list of which it is an entry.
    """
    if isinstance(value, Mapping):
        return {name: _moved(part, folder, str(name), within) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        if key == "command":
            return [_path(word, folder) if i or os.sep in str(word) else word for i, word in enumerate(value)]
        return [_moved(part, folder, "", key) for part in value]
    if key in ("file", "masked", "causal") or (within, key) == ("mechanisms", "text"):
        return _path(value, folder)
    return value


def _path(value: Any, folder: Path) -> Any:
    """A relative path of what is there, from a folder; anything else as it is."""
    if not isinstance(value, (str, Path)) or not str(value) or os.path.isabs(value) or not os.path.exists(value):
        return value
    try:
        moved = os.path.relpath(value, folder)
    except ValueError:  # on another volume
        return os.path.abspath(value)
    return moved if os.sep in moved else os.path.join(os.curdir, moved)


class Figure:
    """A file of a figure, which a notebook shows."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"Figure({str(self.path)!r})"

    def _repr_svg_(self) -> str | None:
        return self.path.read_text(encoding="utf-8") if self.path.suffix == ".svg" else None

    def _repr_png_(self) -> bytes | None:
        return self.path.read_bytes() if self.path.suffix == ".png" else None


def figures(results: str | Path, *, out: str | Path = "figures", **options: object) -> list[Figure]:
    """Draws the figures of a run.

    Args:
        results: the folder of the run, or its rows.
        out: the folder of the figures.
        options: those of ``mldp figures``, such as ``only="frontier"``.

    Returns:
        The figures, which a notebook shows.

    Raises:
        MldpError: for what mldp refuses.
    """
    said = call("figures", str(results), "--out", str(out), "--json", *options_of(options))
    return [Figure(path) for path in json.loads(said)["files"]]


class Comparison(list[dict[str, Any]]):
    """Rows of mechanisms at equal privacy, a list of dicts, with their table and figure."""

    def __init__(self, rows: Iterable[dict[str, Any]], files: Sequence[str]) -> None:
        super().__init__(rows)
        self.files = [*files]

    def to_latex(self) -> str:
        """The tables in LaTeX.

        Returns:
            The text of all of them.
        """
        return "\n".join(Path(f).read_text(encoding="utf-8") for f in self.files if f.endswith(".tex"))

    def figure(self) -> Figure:
        """Use against privacy, with all that was measured.

        Returns:
            The figure, which a notebook shows.
        """
        return next(Figure(f) for f in self.files if f.endswith(".svg"))


def compare(*results: str | Path | Command, data: Sequence[str] | None = None, against: Sequence[str] = (),
            align: str | None = None, em: float | None = None, out: str | Path | None = None, frame: bool | None = None,
            **options: object) -> Any:
    """Compares mechanisms of a run where a quantity is equal, or two runs; with ``data`` it first makes the run.

    A row is one of the tables of ``mldp compare``, and ``table`` says of which: ``pairs-DATA`` has difference,
    interval, p and verdict of two mechanisms.

    Args:
        results: one run or two; with ``data`` a function with ``@mechanism`` before it.
        data: tasks such as ``agnews@1``, or a study.
        against: built-in mechanisms beside the function, each at its epsilon with that quantity.
        align: the quantity that is equal, such as ``"em=0.5"``.
        em: is short for that one: ``em=0.5``.
        out: the folder of the run that is made; what is finished there is not run again.
        frame: as of :func:`records`, without ``data``.
        options: those of ``mldp compare``, such as ``published=True``; with ``data`` those of ``mldp run``.

    Returns:
        The rows, with ``data`` as a :class:`Comparison`.

    Raises:
        MldpError: for what mldp refuses, and with ``data`` for anything but one function.
    """
    options["align"] = f"em={em}" if em is not None else align
    if data is None:
        said = json.loads(call("compare", *map(str, results), "--json", *options_of(options), codes=(0, 1, 3)))
        return _framed([{"table": name, **row} for name, rows in said["tables"].items() for row in rows], frame)
    if len(results) != 1:
        raise MldpError(f"compare with data takes one function, not {len(results)}", 2)
    own = results[0]
    if not isinstance(own, Command):
        raise MldpError(f"{own!r} is no function with @mechanism before it", 2)
    try:
        code = fingerprint(own.function)
    except Unseen as reason:
        code = secrets.token_hex(32)  # equal to none that was kept
        warnings.warn(f"{own.hello['name']}: its results are not kept for another call, as {reason} can't be seen",
                      stacklevel=2)
    relay = Path(out or "runs") / f"{own.hello['name']}.py"
    try:
        relay.parent.mkdir(parents=True, exist_ok=True)
        relay.write_bytes(Path(__file__).with_name("_relay.py").read_bytes())
    except OSError as failed:
        raise MldpError(f"{relay}: {failed.strerror or failed}", 2) from None
    with own.listening(code) as port:
        python = "python3" if shutil.which("python3") else sys.executable  # by name, so that the file gives the name
        options.update(mechanism=against, out=out, command=shlex.join([python, str(relay), "{vectors}"]))
        said = json.loads(call("run", ",".join(map(str, data)), "--json", *options_of(options),
                               environment={"MLDP_FUNCTION": str(port)}))
    return Comparison((row for table in said["tables"].values() for row in table), said["files"])


def evaluate(original: Iterable[str], private: Iterable[str] | Mapping[str, Iterable[str]],
             *, labels: Iterable[Any] | None = None, secrets: Iterable[Any] | None = None,
             ids: Iterable[Any] | None = None, seed: int | None = None, encoder: str | None = None,
             documents: int | None = None, out: str | Path | None = None, frame: bool | None = None,
             **options: object) -> Any:
    """Measures private versions of texts against the originals.

    Texts and what goes with them are lists, Series or columns.

    Args:
        original: the texts.
        private: one sequence of texts, or a dict of several by name, each as long as ``original``.
        labels: what the texts are for.
        secrets: a private label that an attacker looks for.
        ids: a name for each text.
        seed: a whole number, of splits and draws.
        encoder: a model that measures CS.
        documents: how many it reads.
        out: a folder that keeps the run.
        frame: as of :func:`records`.
        options: others of ``mldp evaluate``.

    Returns:
        The rows, as of :func:`records`.

    Raises:
        MldpError: for what is no text, for columns of another length, and for what mldp refuses.
    """
    original = texts_of("original", original)
    versions = {str(name): texts_of(f"private[{name!r}]", texts) for name, texts in private.items()} if isinstance(
        private, Mapping) else {"private": texts_of("private", private)}
    columns = {flag: listed(name, values) for flag, name, values in (
        ("label", "labels", labels), ("private", "secrets", secrets), ("id", "ids", ids)) if values is not None}
    for name, column in [*versions.items(), *columns.items()]:
        if len(column) != len(original):
            raise MldpError(f"{name}: {len(column)} for {len(original)} originals", 2)
    if bad := [name for name in versions if "=" in name or not name]:
        raise MldpError(f"private: a version can't be called {bad[0]!r}", 2)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _table(folder / "original.csv", {"text": original, **columns})
        arguments = ["evaluate", "--original", str(folder / "original.csv"), "--text", "text"]
        arguments += [f"--{flag}={flag}" for flag in columns]
        options.update(seed=seed, encoder=encoder, documents=documents)
        for i, (name, texts) in enumerate(versions.items()):
            _table(folder / f"{i}.csv", {"text": texts, **{k: v for k, v in columns.items() if k == "id"}})
            arguments += ["--privatised", f"{name}={folder / f'{i}.csv'}"]
        target = Path(out) if out is not None else folder / "out"
        call(*arguments, "--out", str(target), *options_of(options))
        return records(target, frame)


def _table(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))
