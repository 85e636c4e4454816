"""Studies and evaluations, and the rows that they leave."""
from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._program import MldpError, call, listed, options_of, texts_of
from ._rows import Figure, Rows, records


def run(study: str | Path | Mapping[str, Any], *, out: str | Path | None = None,
        **options: object) -> Rows:
    """Runs a study; finished units are not run again.

    Args:
        study: a name, a YAML file, or its keys as a dict, whose files are those of the working directory.
        out: the folder of the results, by default ``runs/NAME``.
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
    return records(folder)


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


def compare(*results: str | Path, align: str | None = None, em: float | None = None, **options: object) -> Rows:
    """Compares the mechanisms of a run where a quantity is equal, or two runs.

    A row is one of the tables of ``mldp compare``, and ``table`` says of which: ``pairs-DATA`` has difference,
    interval, p and verdict of two mechanisms.

    Args:
        results: folders of runs, or their rows.
        align: the quantity that is equal, such as ``"em=0.5"``.
        em: is short for that one: ``em=0.5``.
        options: others of ``mldp compare``, such as ``published=True``.

    Returns:
        The rows.

    Raises:
        MldpError: for what mldp refuses.
    """
    if any(callable(result) for result in results):
        raise MldpError("compare: is of runs; rank(function, data=…, against=…) brings a function to equal privacy", 2)
    level = f"em={em}" if em is not None else align
    arguments = ["compare", *map(str, results), "--json", *options_of({"align": level, **options})]
    said = json.loads(call(*arguments, codes=(0, 1, 3)))
    return Rows({"table": name, **row} for name, rows in said["tables"].items() for row in rows)


def evaluate(original: Iterable[str], private: Iterable[str] | Mapping[str, Iterable[str]],
             *, labels: Iterable[Any] | None = None, secrets: Iterable[Any] | None = None,
             ids: Iterable[Any] | None = None, seed: int | None = None, encoder: str | None = None,
             documents: int | None = None, out: str | Path | None = None, **options: object) -> Rows:
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
        return records(target)


def _table(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))
