"""Finds and calls the program."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence


class MldpError(RuntimeError):
    """What mldp said when it failed, or what is wrong with an argument; ``code`` is its exit code, 2 for wrong use."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class NoText(MldpError, TypeError):
    """What is no text, or no list of them; Python itself raises a TypeError for that, so it is one as well."""


def program() -> str:
    """The path of mldp: ``$MLDP``, else the one in this package, else the one on the path."""
    folders = os.pathsep.join([str(Path(__file__).with_name("bin")), os.environ.get("PATH", os.defpath)])
    if found := os.environ.get("MLDP") or shutil.which("mldp", path=folders):
        return found
    raise MldpError("mldp: not in this package and not on the path; set MLDP to the program", 2)


def main() -> None:
    """Is the command ``mldp`` of the wheel."""
    path = program()
    if os.name == "nt":
        sys.exit(subprocess.call([path, *sys.argv[1:]]))
    os.execv(path, [path, *sys.argv[1:]])


def call(*arguments: str, codes: Sequence[int] = (0,), environment: Mapping[str, str] | None = None) -> str:
    """Runs mldp, with a bar where tqdm is there; returns its output. Any exit code but ``codes`` is an MldpError."""
    said, bar = [], None
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out, subprocess.Popen(
            [program(), *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True,
            encoding="utf-8", env={**os.environ, **(environment or {})}) as running:
        try:
            for line in running.stderr or []:
                said.append(line)
                if (step := re.match(r"(\w+) (\d+)/(\d+)[,:]", line)) and importlib.util.find_spec("tqdm"):
                    from tqdm.auto import tqdm
                    bar = bar or tqdm(unit=step[1])
                    bar.total, bar.n = int(step[3]), int(step[2])
                    bar.refresh()
        finally:
            if bar:
                bar.close()
            if sys.exc_info()[0]:  # Ctrl-C
                running.terminate()
        if running.wait() not in codes:
            lines = [line for line in said if line.startswith("mldp:")] or ["".join(said)]
            raise MldpError(lines[-1].strip(), running.returncode)
        out.seek(0)
        return out.read()


def listed(name: str, values: Iterable[Any]) -> list[Any]:
    """The values of a list, a Series or a column; a text or a table is none of them."""
    if isinstance(values, (str, bytes, Mapping)) or hasattr(values, "columns") or not hasattr(values, "__iter__"):
        raise NoText(f"{name} is a {type(values).__name__}, not a list", 2)
    return list(values)


def texts_of(name: str, values: Iterable[Any]) -> list[str]:
    texts = listed(name, values)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise NoText(f"{name}[{i}] is {text!r}, not a text", 2)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise MldpError(f"{name}[{i}] has half a surrogate pair, which is no character", 2) from None
    return texts


def options_of(options: Mapping[str, object]) -> list[str]:
    """Keywords as options of a command: ``seed=2`` is ``--seed=2``, a list is the option several times."""
    return [f"--{key.replace('_', '-')}={str(v).lower() if isinstance(v, bool) else v}"
            for key, value in options.items() if value is not None
            for v in (value if isinstance(value, (list, tuple)) else [value])]
