"""A process of ``mldp serve`` that answers one request at a time, whoever asks."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import tempfile
import threading
import warnings
import weakref
from collections.abc import Sequence
from typing import IO, Any, cast

from ._program import MldpError, started, warned

_GRACE = 2.0  # seconds that a process has to end by itself
_READ = 1 << 16  # bytes at once


class Ended(MldpError):
    """The program ended before it answered."""


class Lines:
    """Lines to and from a program, which says the rest in a file.

    They are not buffered by Python: a buffer would be copied by a fork, and written twice.
    """

    def __init__(self, to: int, from_: int, said: IO[bytes]) -> None:
        self._to = to
        self._from = from_
        self._said = said
        self._shown = 0
        self._rest = b""  # was read after the last line

    def exchange(self, request: dict[str, Any] | None) -> dict[str, Any]:
        """Writes a request, or nothing, and reads the next line.

        Args:
            request: has an id, which the answer must have, too. None waits for the hello.

        Returns:
            The line that was read.

        Raises:
            MldpError: where the process ended, with what it said, or answered something else.
        """
        if request is not None:
            self._write(json.dumps(request, ensure_ascii=False).encode() + b"\n")
        line = self._line()
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or request is not None and answer.get("id") != request["id"]:
            raise MldpError(f"mldp serve: not the answer to this request: {line[:80]!r}", 1)
        return answer

    def _write(self, line: bytes) -> None:
        left = memoryview(line)
        try:
            while left:
                left = left[os.write(self._to, left[:1 << 20]):]
        except OSError:  # it has ended: reading says why
            return

    def _line(self) -> bytes:
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            try:
                part = os.read(self._from, _READ)
            except ConnectionError:
                part = b""
            if not part:
                raise self._ended()
            parts.append(part)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def _ended(self) -> Ended:
        """Why nothing more comes."""
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return Ended(lines[-1] if lines else "mldp ended", self._code())

    def _code(self) -> int:
        """The exit code of the program, 1 where it is not known."""
        return 1

    def warned(self) -> list[str]:
        """Its warnings since the last call of this."""
        if os.fstat(self._said.fileno()).st_size == self._shown:
            return []
        self._said.seek(self._shown)
        new = self._said.read()
        self._shown += len(new)
        return warned(new.decode(errors="replace").splitlines())

    def end(self) -> None:
        """Ends the lines; there may be none any more."""
        raise NotImplementedError

    def forked(self) -> None:
        """Leaves the lines to the parent of this process."""
        raise NotImplementedError


class Process(Lines):
    """One process and its pipes, which belong to the process that started it.

    When nobody holds this object any more, the process ends.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        """Starts it.

        Raises:
            MldpError: where there is no program, or it can't be started.
        """
        said = cast("IO[bytes]", tempfile.TemporaryFile(buffering=0))  # noqa: SIM115
        running = started(arguments, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)
        assert running.stdin is not None and running.stdout is not None
        super().__init__(running.stdin.fileno(), running.stdout.fileno(), said)
        self._running = running
        self._end = weakref.finalize(self, _end, running, said)
        open_lines.add(self)

    @property
    def pid(self) -> int:
        return self._running.pid

    def kill(self) -> None:
        self._running.kill()

    def _code(self) -> int:
        return self._running.wait()

    def end(self) -> None:
        """Ends the process, and waits for that. It may have ended already."""
        self._end()

    def forked(self) -> None:
        """Leaves the process to the parent of this one, which alone sees its pipes end when it closes them."""
        self._end.detach()
        self._running.returncode = 0  # it is no child of this process, which must not wait for it
        _close(self._running, self._said)


def _close(running: subprocess.Popen[bytes], said: IO[bytes]) -> None:
    for stream in (running.stdin, running.stdout, said):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _end(running: subprocess.Popen[bytes], said: IO[bytes]) -> None:
    """Ends a process that may be at work, by itself if it can: its cache has no half files then."""
    _close(running, said)
    running.terminate()
    try:
        running.wait(_GRACE)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()


class Service:
    """``mldp serve`` with arguments, for any number of threads and after a fork.

    A process that was left between a request and its answer, by a signal or Ctrl-C, is never asked again: what it
    still answers would be taken for the answer to the next request. A forked child starts a process of its own.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self.lock = threading.RLock()  # of all calls; a signal handler may call while its thread does
        self.idle: Lines | None = None  # without a request
        self._arguments = [*arguments]
        self._hello: dict[str, Any] | None = None
        self._requests = itertools.count(1)
        self._closed = False
        _services.add(self)

    @property
    def hello(self) -> dict[str, Any]:
        """What the program says of itself; the first use starts it."""
        with self.lock:
            if self._hello is None:
                self.idle = self._start()
            assert self._hello is not None
            return self._hello

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Asks, and gives the request its id.

        Args:
            request: the fields of a request but its id.

        Returns:
            The answer to this request.

        Raises:
            MldpError: where the service is closed, the process ended, or its answer belongs to another request.
        """
        with self.lock:
            if self._closed:
                raise MldpError("the mechanism is closed: make another", 2)
            process = self.idle  # taken, and put back only when it has answered: an exception may come at any time
            self.idle = None
            try:
                if process is None:
                    process = self._start()
                answer = process.exchange({"id": next(self._requests), **request})
            except BaseException:
                if process is not None:
                    process.end()
                raise
            self.idle = process
        for warning in process.warned():
            warnings.warn(warning, stacklevel=4)
        return answer

    def _open(self, arguments: Sequence[str]) -> Lines:
        """Lines to a program whose hello was not read yet."""
        return Process(arguments)

    def _start(self) -> Lines:
        """Lines whose hello was read, which must be what the first one said."""
        process = self._open(["serve", *self._arguments])
        try:
            hello = process.exchange(None)
            if self._hello is not None and hello != self._hello:
                raise MldpError("mldp or its vectors are others than when the mechanism was made: make another", 1)
        except BaseException:
            process.end()
            raise
        self._hello = hello
        return process

    def close(self) -> None:
        """Ends the process; nothing can be asked any more."""
        with self.lock:
            self._closed = True
            process = self.idle
            self.idle = None
            if process is not None:
                process.end()

    def forked(self) -> None:
        """Starts anew in a child: another thread of the parent may hold the lock."""
        self.lock = threading.RLock()
        self.idle = None


open_lines: weakref.WeakSet[Lines] = weakref.WeakSet()
_services: weakref.WeakSet[Service] = weakref.WeakSet()


def _forked() -> None:
    """Separates a child from the processes of its parent, before anything else runs in it."""
    for service in list(_services):
        service.forked()
    for lines in list(open_lines):
        lines.forked()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_forked)
