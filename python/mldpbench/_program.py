"""Finds and calls the program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence


class MldpError(RuntimeError):
    """What mldp said when it failed, or what is wrong with an argument; ``code`` is its exit code, 2 for wrong usage."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def program() -> str:
    """The path of mldp: ``$MLDP``, else the one in this package, else the one on the path."""
    if named := os.environ.get("MLDP"):
        return named
    for name in ("mldp", "mldp.exe"):
        bundled = Path(__file__).with_name("bin") / name
        if bundled.exists():
            return str(bundled)
    if found := shutil.which("mldp"):
        return found
    raise MldpError("mldp: not in this package and not on the path; set MLDP to the program", 2)


def main() -> None:
    """Is the command ``mldp`` of the wheel."""
    path = program()
    if os.name == "nt":
        sys.exit(subprocess.call([path, *sys.argv[1:]]))
    os.execv(path, [path, *sys.argv[1:]])


def call(*arguments: str, codes: Sequence[int] = (0,), **options: object) -> str:
    """Runs mldp and returns its standard output; any exit code but ``codes`` is an MldpError."""
    done = subprocess.run([program(), *arguments], capture_output=True, text=True, encoding="utf-8", **options)  # type: ignore[call-overload]
    if done.returncode not in codes:
        lines = [line for line in done.stderr.splitlines() if line.startswith("mldp:")] or [done.stderr.strip()]
        raise MldpError(lines[-1], done.returncode)
    return done.stdout


def listed(name: str, values: Iterable[Any]) -> list[Any]:
    """The values of a list, a Series or a column; a text is none of them."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} is a {type(values).__name__}, not a list")
    return list(values)


def texts_of(name: str, values: Iterable[Any]) -> list[str]:
    """A list of texts; what is no text is named by its index."""
    texts = listed(name, values)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"{name}[{i}] is {text!r}, not a text")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise MldpError(f"{name}[{i}] has half a surrogate pair, which is no character", 2) from None
    return texts


def options_of(options: Mapping[str, object]) -> list[str]:
    """Keywords as options of a command: ``seed=2`` is ``--seed=2``, a list is the option several times."""
    return [f"--{key.replace('_', '-')}={str(v).lower() if isinstance(v, bool) else v}" for key, value in options.items()
            if value is not None for v in (value if isinstance(value, (list, tuple)) else [value])]
