"""One ``mldp serve`` for all processes of a user on a machine that ask for the same: they share its memory."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import stat
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

from ._program import MldpError, program, started
from ._service import Ended, Lines, Process, Service, open_lines

if sys.platform != "win32":
    import fcntl

_LONGEST = 100  # bytes of the path of a socket
_VARIABLES = ("MLDP", "XDG_", "HOME", "GO")  # beginnings of those that the program reads


class SharedService(Service):
    """A service whose requests all have their own seeds or ids, so that it matters to nobody who else asks.

    The first process starts the program, which ends some seconds after the last has gone. If it dies, the next
    request starts another, and is asked again.
    """

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return super().ask(request)
        except Ended:
            return super().ask(request)

    def _open(self, arguments: Sequence[str]) -> Lines:
        stem = _stem(arguments)
        return Process(arguments) if stem is None else _connect(arguments, stem)

    def _start(self) -> Lines:
        try:
            return super()._start()
        except Ended:  # it was about to end
            return super()._start()


class _Connection(Lines):
    """A connection to the program of a socket, which ends with this object."""

    def __init__(self, path: Path, log: Path) -> None:
        """Connects.

        Raises:
            OSError: where nobody listens.
        """
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connected.connect(os.fspath(path))
            said = cast("IO[bytes]", open(log, "rb", buffering=0))  # noqa: SIM115
        except BaseException:
            connected.close()
            raise
        super().__init__(connected.fileno(), connected.fileno(), said)
        self._end = weakref.finalize(self, _close, connected, said)
        open_lines.add(self)

    def end(self) -> None:
        self._end()

    def forked(self) -> None:
        self._end()  # closes what a child has of it


def _close(connected: socket.socket, said: IO[bytes]) -> None:
    connected.close()
    said.close()


def _connect(arguments: Sequence[str], stem: Path) -> _Connection:
    """Connects to the program with these arguments, which is started where there is none.

    Raises:
        MldpError: where it can't be started.
    """
    path = stem.with_suffix(".socket")
    log = stem.with_suffix(".log")
    with open(log, "ab", buffering=0) as locked:  # while it is, nobody else starts the program
        fcntl.flock(locked, fcntl.LOCK_EX)
        try:
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                return _Connection(path, log)
            path.unlink(missing_ok=True)
            locked.truncate(0)
            _start([*arguments, f"--listen={path}"], log)
            return _Connection(path, log)
        finally:
            fcntl.flock(locked, fcntl.LOCK_UN)  # closing is not enough: a process forked meanwhile has the file, too


def _start(arguments: Sequence[str], log: Path) -> None:
    """Starts a program, and waits until it listens.

    Raises:
        MldpError: where it ends before, with what it said.
    """
    with open(log, "ab", buffering=0) as said:  # not the file that is locked: the program would lock it, too
        running = started(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
                          start_new_session=True)
    assert running.stdout is not None
    try:
        with running.stdout as hello:
            listens = hello.readline() != b""
    except BaseException:  # Ctrl-C
        running.kill()
        raise
    if not listens:
        code = running.wait()
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise MldpError(lines[-1] if lines else "mldp ended", code)
    running.returncode = 0  # nobody waits for it


def _stem(arguments: Sequence[str]) -> Path | None:
    """Begins the names of the files of a program with these arguments; None where a machine can't share one.

    The name stands for all that the program depends on: also its files, by their times, and the variables it reads.
    """
    if sys.platform == "win32":
        return None
    found = program()
    files = [found, *(argument.partition("=")[2] for argument in arguments)]
    variables = sorted(item for item in os.environ.items() if item[0].startswith(_VARIABLES))
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    depends = repr((os.getcwd(), arguments, [_state(file) for file in files], variables, cores))
    folder = Path(tempfile.gettempdir(), f"mldpbench-{os.getuid()}")
    stem = folder / hashlib.sha256(depends.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    if len(os.fsencode(stem)) > _LONGEST or not _is_private(folder):
        return None
    return stem


def _state(file: str) -> tuple[str, int, int, int] | None:
    """Identifies the state of a file; None where there is none."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return os.path.realpath(file), found.st_ino, found.st_size, found.st_mtime_ns


def _is_private(folder: Path) -> bool:
    """Makes a folder, and reports whether it is one that only this user can enter."""
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(0o700)
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and found.st_mode & 0o077 == 0
