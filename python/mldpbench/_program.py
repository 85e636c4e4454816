"""Finds and calls the program."""

from __future__ import annotations

import contextlib
import importlib.util
import operator
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


class MldpError(RuntimeError):
    """What mldp said when it failed, or what is wrong with an argument; ``code`` is its exit code, 2 for wrong use."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type[MldpError], tuple[str, int]]:
        return type(self), (str(self), self.code)  # else a pool of processes waits for ever for the error


class NoText(MldpError, TypeError):
    """What is no text, or no list of them; Python itself raises a TypeError for that, so it is one as well."""


def program() -> str:
    """Finds mldp: ``$MLDP``, else the one in this package, else the one on the path.

    Returns:
        Its path.

    Raises:
        MldpError: where there is none.
    """
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


def started(arguments: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """Starts mldp.

    Args:
        arguments: its command line.
        options: those of subprocess.Popen.

    Returns:
        The process.

    Raises:
        MldpError: where there is no program, or an argument can't be one.
    """
    command = [program(), *arguments]
    try:
        return subprocess.Popen(command, **options)
    except (OSError, ValueError) as failed:  # a NUL is a ValueError
        raise MldpError(f"{command[0]}: {failed}", 2) from None


def warned(lines: Iterable[str]) -> list[str]:
    """The warnings among lines of standard error."""
    return [line.removeprefix("warning:").strip() for line in lines if line.startswith("warning:")]


def call(*arguments: str, codes: Sequence[int] = (0,), environment: Mapping[str, str] | None = None) -> str:
    """Runs mldp, with a bar where tqdm is there, and passes its warnings on.

    Args:
        arguments: its command line.
        codes: exit codes that are results.
        environment: variables beside those of this process.

    Returns:
        What it wrote to standard output.

    Raises:
        MldpError: for any other exit code.
    """
    said: list[str] = []
    variables = {**os.environ, **(environment or {})}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out, started(
            arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            errors="replace", env=variables) as running:
        try:
            with contextlib.closing(_Bar()) as bar:
                for line in running.stderr or []:
                    said.append(line)
                    bar.show(line)
        except BaseException:  # Ctrl-C
            running.terminate()
            raise
        if running.wait() not in codes:
            lines = [line for line in said if line.startswith("mldp:")] or ["".join(said)]
            raise MldpError(lines[-1].strip(), running.returncode)
        out.seek(0)
        result = out.read()
    for warning in warned(said):
        warnings.warn(warning, stacklevel=3)
    return result


class _Bar:
    """A bar of tqdm, where that is there."""

    def __init__(self) -> None:
        self._bar: Any = None

    def show(self, line: str) -> None:
        """Moves the bar where a line says how far the program is."""
        step = re.match(r"(\w+) (\d+)/(\d+)[,:]", line)
        if step is None or not importlib.util.find_spec("tqdm"):
            return
        if self._bar is None:
            from tqdm.auto import tqdm
            self._bar = tqdm(unit=step[1])
        self._bar.total = int(step[3])
        self._bar.n = int(step[2])
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def listed(name: str, values: Iterable[Any]) -> list[Any]:
    """The values of a list, a Series or a column; a text or a table is none of them."""
    if isinstance(values, (str, bytes, Mapping)) or hasattr(values, "columns") or not hasattr(values, "__iter__"):
        raise NoText(f"{name} is a {type(values).__name__}, not a list", 2)
    return list(values)


def is_missing(value: object) -> bool:
    """Whether a value stands for none: None, NaN of any library, NaT and NA of pandas."""
    if value is None or type(value).__name__ == "NAType":
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 (NaN differs from itself)
    except (TypeError, ValueError):  # no truth, such as that of an array
        return False


def texts_of(name: str, values: Iterable[Any]) -> list[str]:
    """Values that all must be texts.

    Args:
        name: what an error calls them.
        values: a list, a Series or a column.

    Returns:
        A list of them.

    Raises:
        MldpError: names the first that is no text, or can't be written as UTF-8.
    """
    texts = listed(name, values)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise NoText(f"{name}[{i}] is {text!r}, not a text", 2)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise MldpError(f"{name}[{i}] has half a surrogate pair, which is no character", 2) from None
    return texts


def seed_of(seed: Any) -> int:
    """A seed as mldp takes it.

    Args:
        seed: a whole number of Python or numpy.

    Returns:
        The number.

    Raises:
        MldpError: for anything else, a generator of random numbers too.
    """
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if not 0 <= number < 1 << 64:
        raise MldpError(f"seed = {seed!r}: must be a whole number from 0 to 2^64 - 1", 2)
    return number


def options_of(options: Mapping[str, object]) -> list[str]:
    """Keywords as options of a command.

    Args:
        options: ``seed=2`` is ``--seed=2``, a list is the option several times, None is none.

    Returns:
        The options.

    Raises:
        MldpError: for a value that is no option, such as a dict.
    """
    arguments: list[str] = []
    for key, value in options.items():
        if value is None:
            continue
        if key == "seed":
            value = seed_of(value)
        if isinstance(value, (Mapping, bytes)):
            raise MldpError(f"{key} is a {type(value).__name__}: must be a text, a number or a list of them", 2)
        several = not isinstance(value, str) and isinstance(value, Iterable)
        for one in list(value) if several else [value]:  # type: ignore[call-overload]
            text = str(one).lower() if isinstance(one, bool) else str(one)
            arguments.append(f"--{key.replace('_', '-')}={text}")
    return arguments
