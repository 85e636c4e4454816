"""Studies and evaluations, and the rows that they leave."""
from __future__ import annotations

import csv
import gzip
import json
import tempfile
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from ._program import call, listed, options_of, texts_of

_NUMBERS = {"value", "low", "high", "floor", "ceiling", "epsilon", "x", "guarantee_epsilon", "guarantee_delta", "seconds"}
_COUNTS = {"part", "whole", "repetition", "dimension", "train_items", "test_items", "vocabulary", "seed", "index"}


def records(path: str | Path, frame: bool | None = None) -> Any:
    """The rows of a run: a folder, or its results.csv(.gz). One row is one quantity of one private text.

    Returns a list of dicts, or a pandas DataFrame with ``frame=True``; ``None``
    takes a DataFrame where pandas is installed. A number that was not measured is None.
    """
    file = Path(path)
    if file.is_dir():
        file = next(f for f in (file / "results.csv", file / "results.csv.gz") if f.exists())
    opened = gzip.open(file, "rt", encoding="utf-8", newline="") if file.suffix == ".gz" else open(
        file, encoding="utf-8", newline="")
    with opened as lines:
        rows = [{key: _value(key, text) for key, text in row.items()} for row in csv.DictReader(lines)]
    if frame is False:
        return rows
    try:
        import pandas
    except ImportError:
        if frame:
            raise
        return rows
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


def evaluate(original: Sequence[str], private: Sequence[str] | Mapping[str, Sequence[str]],
             *, labels: Sequence[Any] | None = None, secrets: Sequence[Any] | None = None,
             out: str | Path | None = None, frame: bool | None = None, **options: object) -> Any:
    """Measures private versions of texts against the originals and returns rows.

    ``private`` is one list of texts, or a dict of several by name; ``labels``
    is what the texts are for, ``secrets`` a private label that an attacker looks
    for. ``options`` are those of ``mldp evaluate``, such as ``seed=2``.
    """
    original = texts_of("original", original)
    versions = {str(name): texts_of(f"private[{name!r}]", texts) for name, texts in private.items()} if isinstance(
        private, Mapping) else {"private": texts_of("private", private)}
    labels = None if labels is None else listed("labels", labels)
    secrets = None if secrets is None else listed("secrets", secrets)
    for name, column in [*versions.items(), ("labels", labels), ("secrets", secrets)]:
        if column is not None and len(column) != len(original):
            raise ValueError(f"{name}: {len(column)} for {len(original)} originals")
        if "=" in name or not name:
            raise ValueError(f"private: a version can't be called {name!r}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _table(folder / "original.csv", original, labels, secrets)
        arguments = ["evaluate", "--original", str(folder / "original.csv"), "--text", "text"]
        if labels is not None:
            arguments += ["--label", "label"]
        if secrets is not None:
            arguments += ["--private", "secret"]
        for i, (name, texts) in enumerate(versions.items()):
            _table(folder / f"{i}.csv", texts, None, None)
            arguments += ["--privatised", f"{name}={folder / f'{i}.csv'}"]
        target = Path(out) if out is not None else folder / "out"
        call(*arguments, "--out", str(target), *options_of(options))
        return records(target, frame)


def _table(path: Path, texts: Iterable[str], labels: Sequence[Any] | None, secrets: Sequence[Any] | None) -> None:
    columns: dict[str, Sequence[Any]] = {"text": list(texts)}
    if labels is not None:
        columns["label"] = labels
    if secrets is not None:
        columns["secret"] = secrets
    with open(path, "w", encoding="utf-8", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))
