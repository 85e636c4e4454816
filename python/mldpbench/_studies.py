"""Studies and evaluations, and the rows that they leave."""
from __future__ import annotations

import csv
import gzip
import importlib.util
import json
import tempfile
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from ._program import MldpError, call, listed, options_of, texts_of

_NUMBERS = {"value", "low", "high", "floor", "ceiling", "epsilon", "x", "guarantee_epsilon", "guarantee_delta", "seconds"}
_COUNTS = {"part", "whole", "repetition", "dimension", "train_items", "test_items", "vocabulary", "seed", "index"}


def records(path: str | Path, frame: bool | None = None) -> Any:
    """The rows of a run: a folder, or its results.csv(.gz). One row is one quantity of one private text.

    Returns a pandas DataFrame where pandas is installed, else a list of dicts; ``frame`` decides.
    A number that was not measured is None (NaN in a DataFrame).
    """
    file = Path(path)
    if file.is_dir():
        file = next((f for f in (file / "results.csv", file / "results.csv.gz") if f.exists()), file / "results.csv")
    try:
        with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8", newline="") as lines:
            return _framed([{key: _value(key, text) for key, text in row.items()} for row in csv.DictReader(lines)], frame)
    except OSError as failed:
        raise MldpError(f"{file}: {failed.strerror or failed}", 2) from None


def _framed(rows: list[dict[str, Any]], frame: bool | None) -> Any:
    """A DataFrame if it is wanted, or not refused and possible."""
    if frame is False or frame is None and importlib.util.find_spec("pandas") is None:
        return rows
    import pandas
    return pandas.DataFrame(rows)


def _value(key: str, text: str) -> Any:
    if key in _NUMBERS:
        return float(text) if text else None
    if key in _COUNTS:
        return int(text) if text else None
    return text


def run(study: str | Path | Mapping[str, Any], *, out: str | Path | None = None, frame: bool | None = None,
        **options: object) -> Any:
    """Runs a study (a name, a YAML file, or its keys as a dict) and returns its rows; finished units are not run again.

    ``options`` are those of ``mldp run``, such as ``repetitions=1``.
    """
    if isinstance(study, Mapping):
        folder = Path(out or Path("runs") / str(study["name"]))
        folder.mkdir(parents=True, exist_ok=True)
        name: str | Path = folder / "study.yaml"
        Path(name).write_text(json.dumps(study, ensure_ascii=False), encoding="utf-8")  # JSON is YAML
    else:
        name, folder = study, Path(out or Path("runs") / Path(study).stem)
    call("run", str(name), "--out", str(folder), *options_of(options))
    return records(folder, frame)


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
    """Draws the figures of a run or of its rows; ``options`` are those of ``mldp figures``, such as ``only="frontier"``."""
    said = call("figures", str(results), "--out", str(out), "--json", *options_of(options))
    return [Figure(path) for path in json.loads(said)["files"]]


def compare(*results: str | Path, align: str | None = None, published: bool | None = None, frame: bool | None = None,
            **options: object) -> Any:
    """Compares mechanisms of a run where a quantity is equal (``align="em=0.5"``), or two runs; returns rows.

    A row is one of the tables of ``mldp compare``, and ``table`` says of which:
    ``pairs-DATA`` has difference, interval, p and verdict of two mechanisms.
    ``published`` compares with published numbers. Units are those of the quantity.
    """
    said = json.loads(call("compare", *map(str, results), "--json", *options_of({"align": align, "published": published,
                                                                                 **options}), codes=(0, 1, 3)))
    return _framed([{"table": name, **row} for name, rows in said["tables"].items() for row in rows], frame)


def evaluate(original: Iterable[str], private: Iterable[str] | Mapping[str, Iterable[str]],
             *, labels: Iterable[Any] | None = None, secrets: Iterable[Any] | None = None,
             ids: Iterable[Any] | None = None, seed: int | None = None, encoder: str | None = None,
             documents: int | None = None, out: str | Path | None = None, frame: bool | None = None,
             **options: object) -> Any:
    """Measures private versions of texts against the originals and returns rows (see records).

    ``private`` is one sequence of texts, or a dict of several by name; ``labels``
    is what the texts are for, ``secrets`` a private label that an attacker looks
    for, ``ids`` one name for each text: lists, Series or columns, all as long as
    ``original``, else MldpError. ``encoder`` measures CS on that many ``documents``.
    Other ``options`` are those of ``mldp evaluate``; ``out`` keeps its folder.
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
