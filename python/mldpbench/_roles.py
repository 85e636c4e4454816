"""Python functions as commands of a study.

A command speaks lines of JSON (docs/external.md). Each decorator gives a function the method ``serve()``, which does
that; a study names its file as ``command: [python3, krr.py]``, and mldpbench.rank needs no file.
"""

from __future__ import annotations

import array
import contextlib
import functools
import inspect
import io
import json
import operator
import os
import random
import selectors
import socket
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Callable

from ._fingerprint import Unseen, fingerprint
from ._program import MldpError

_Function = Callable[..., Any]
_Answer = Callable[[_Function, "dict[str, Any]"], "dict[str, Any]"]

# A function runs in one thread at a time: many seed the generators of random, numpy or torch, which all threads share.
_running = threading.Lock()


class Command:
    """A function with a hello and a way to answer one request.

    Args:
        function: that is called.
        hello: the first line of the protocol.
        answer: calls the function for a request.
    """

    def __init__(self, function: _Function, hello: dict[str, Any], answer: _Answer) -> None:
        self.function = function
        self.hello = hello
        self._answer = answer
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)

    def serve(self, source: Iterable[str] | None = None, sink: IO[str] | None = None,
              vectors: str | None = None) -> None:
        """Answers requests until there are no more.

        What the function prints goes to standard error: libraries greet, and that is no answer. Pipes are UTF-8,
        whatever the system says.

        Args:
            source: lines of requests, by default standard input.
            sink: gets the answers, by default standard output.
            vectors: the vectors for a function that takes words or vectors, by default the program's last argument.

        Raises:
            MldpError: where such a function gets no vectors.
        """
        requests = _utf8(sys.stdin) if source is None else source
        out = _utf8(sys.stdout) if sink is None else sink
        function = self._with_vectors(vectors or (sys.argv[-1] if len(sys.argv) > 1 else None))
        hello = self._described(self.code())
        with contextlib.nullcontext() if sink else contextlib.redirect_stdout(sys.stderr):
            print(hello, file=out, flush=True)
            for line in requests:
                print(self._reply(function, line), file=out, flush=True)

    def code(self) -> str | None:
        """The fingerprint of the function.

        Returns:
            A text that changes with the code and what it reaches; None where that can't be known.
        """
        try:
            return fingerprint(self.function)
        except Unseen:
            return None

    def _described(self, code: str | None) -> str:
        """The hello with the fingerprint of the function, which is a part of the key of results."""
        return _dumped(self.hello if code is None else {**self.hello, "code": code})

    def _with_vectors(self, file: str | None) -> _Function:
        """The function, with the words and the vectors of a file if it takes them."""
        asked = [name for name in ("words", "vectors") if name in inspect.signature(self.function).parameters]
        if not asked:
            return self.function
        name = self.hello["name"]
        if file is None:
            raise MldpError(f'{name} takes {" and ".join(asked)}: end its command with "{{vectors}}", as in command: '
                            f'[python3, {Path(sys.argv[0]).name}, "{{vectors}}"], or name a vector file', 2)
        try:
            with open(file, encoding="utf-8", newline="\n") as lines:
                words, vectors = _read(lines, "vectors" in asked)
        except (OSError, ValueError) as failed:
            raise MldpError(f"{name}: {file}: no vectors can be read: {failed}", 2) from None
        have: dict[str, Any] = {"words": words, "vectors": vectors}
        return functools.partial(self.function, **{key: have[key] for key in asked})

    def _reply(self, function: _Function, line: str | bytes) -> str:
        """The line that answers a line. One request fails, not the process."""
        request = json.loads(line)
        try:
            with _running:
                answer = {"id": request["id"], **self._answer(function, request)}
            reply = _dumped(answer)
        except (Exception, SystemExit) as failed:  # noqa: BLE001 (whatever the function raises)
            traceback.print_exc()
            reason = f"{type(failed).__name__}: {failed} ({self._place(failed)})"
            reply = _dumped({"id": request["id"], "error": reason.encode(errors="replace").decode()})
        return reply

    def _place(self, failed: BaseException) -> str:
        """Where an exception passed through the file of the function last, else where it was raised."""
        frames = traceback.extract_tb(failed.__traceback__)
        code = getattr(self.function, "__code__", None)
        own = [f for f in frames if code and f.filename == code.co_filename]
        frame = (own or frames)[-1]
        return f"{frame.filename}:{frame.lineno}, in {frame.name}"

    @contextlib.contextmanager
    def listening(self, code: str) -> Iterator[int]:
        """Serves each connection to a port of this machine, which says first where {vectors} is; see _relay.py.

        One thread answers all of them.

        Args:
            code: of the hello: results are kept for it.

        Returns:
            A context, which has the number of the port.
        """
        hello = self._described(code)
        done = threading.Event()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=self._listen, args=(listener, hello, done), daemon=True).start()
            try:
                yield listener.getsockname()[1]
            finally:
                done.set()

    def _listen(self, listener: socket.socket, hello: str, done: threading.Event) -> None:
        """Answers the connections of a listener, one line after the other, until it is done."""
        with selectors.DefaultSelector() as ready, contextlib.ExitStack() as connections:
            ready.register(listener, selectors.EVENT_READ)
            while not done.is_set():
                for key, _ in ready.select(_POLL):
                    if key.fileobj is listener:
                        connection = connections.enter_context(_Connection(listener.accept()[0]))
                        ready.register(connection.socket, selectors.EVENT_READ, connection)
                    elif not self._answered(key.data, hello):
                        ready.unregister(key.fileobj)
                        key.data.close()

    def _answered(self, connection: _Connection, hello: str) -> bool:
        """Answers the next line of a connection; false where it has ended."""
        try:
            line = connection.lines.readline()
            if not line.endswith(b"\n"):
                return False
            if connection.function is None:
                connection.function = self._with_vectors(os.fsdecode(line.rstrip(b"\n")))
                reply = hello
            else:
                reply = self._reply(connection.function, line)
            connection.lines.write(reply.encode() + b"\n")
            connection.lines.flush()
        except OSError:  # the other side has ended
            return False
        return True


_POLL = 0.2  # seconds


def _read(lines: Iterable[str], with_numbers: bool) -> tuple[list[str], list[array.array[float]]]:
    """The words of a text file of vectors and, where they are wanted, the vectors, in its order."""
    words: list[str] = []
    vectors: list[array.array[float]] = []
    for line in lines:
        word, _, numbers = line.partition(" ")
        words.append(word)
        if with_numbers:
            vectors.append(array.array("d", map(float, numbers.split())))
    return words, vectors


class _Connection(contextlib.AbstractContextManager["_Connection"]):
    """A connection of the relay, with the function once that has its vectors."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.lines = connected.makefile("rwb")
        self.function: _Function | None = None

    def close(self) -> None:
        """Ends it, also where the other side is gone."""
        with contextlib.suppress(OSError):
            self.lines.close()
        self.socket.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _utf8(stream: Any) -> Any:
    """A standard stream that speaks UTF-8 and ends lines with a line feed, if it is one of bytes."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="strict", newline="\n")
    return stream


def _dumped(line: dict[str, Any]) -> str:
    """A line of the protocol. What is no number or no character raises a ValueError."""
    text = json.dumps(line, ensure_ascii=False, allow_nan=False, default=_plain)
    text.encode()
    return text


def _plain(value: Any) -> Any:
    """What json does not know: arrays, scalars and tensors of libraries as lists and numbers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"the function returned a {type(value).__name__}, which is no JSON")


def _label(value: Any) -> Any:
    """A predicted label as a whole number, where it is one."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    try:
        return int(operator.index(value))  # of a bool, too
    except TypeError:
        return value  # mldp says what is wrong


def mechanism(name: str, version: str = "1", guarantee: Mapping[str, Any] | None = None, aligned: bool = True,
              text: bool = False, parameters: Mapping[str, Any] | None = None,
              repeatable: bool = True) -> Callable[[_Function], Command]:
    """A mechanism: ``function(tokens, epsilon, rng)`` returns the private tokens of a document.

    ``rng`` is a :class:`random.Random` of the document's own seed. A function that also takes ``words`` gets those of
    ``{vectors}``, which the built-in mechanisms know, and one that takes ``vectors`` a list with the vector of each, an
    :class:`array.array`.

    Args:
        name: that of the mechanism in tables.
        version: is raised when its texts change.
        guarantee: what it declares per word, such as ``{"metric": "euclidean", "factor": 1}``; None for nothing.
        aligned: whether each token has its private one at the same place.
        text: whether the function takes and returns a whole text.
        parameters: what it stands on, for tables.
        repeatable: False for a function with another source of randomness than ``rng``.

    Returns:
        A decorator, which makes the function a :class:`Command`.

    >>> @mechanism("shout")
    ... def shout(tokens, epsilon, rng):
    ...     return [t.upper() for t in tokens]
    >>> shout.serve(['{"id": 1, "epsilon": 5, "seeds": ["00"], "documents": [["a", "b"]]}'])
    {"protocol": 1, "name": "shout", "version": "1", "repeatable": true}
    {"id": 1, "documents": [["A", "B"]]}
    """
    def answer(function: _Function, request: dict[str, Any]) -> dict[str, Any]:
        key = "texts" if "texts" in request else "documents"
        return {key: [function(d, request["epsilon"], random.Random(seed))
                      for d, seed in zip(request[key], request["seeds"])]}
    said = {"guarantee": guarantee, "input": "text" if text else None, "parameters": parameters}
    return _command({"protocol": 1, "name": name, "version": version, "repeatable": repeatable,
                     **({} if aligned else {"aligned": False})}, said, answer)


def attacker(name: str, version: str = "1") -> Callable[[_Function], Command]:
    """An attacker of a private label: ``function(train, test, rng)`` returns a label for each test text.

    ``train`` are (text, label) pairs, ``test`` texts, plain or released. mldp measures floor and ceiling with it.

    Args:
        name: that of the attacker in tables.
        version: is raised when its answers change.

    Returns:
        A decorator, which makes the function a :class:`Command`.

    >>> @attacker("first")
    ... def first(train, test, rng):
    ...     return [train[0][1] for _ in test]
    >>> first.serve(['{"id": 1, "seed": "00", "train": [["a", 1]], "test": ["b", "c"]}'])
    {"protocol": 2, "role": "attacker", "name": "first", "version": "1"}
    {"id": 1, "labels": [1, 1]}
    """
    def answer(function: _Function, request: dict[str, Any]) -> dict[str, Any]:
        train = [(text, label) for text, label in request["train"]]
        labels = function(train, request["test"], random.Random(request["seed"]))
        return {"labels": [_label(label) for label in labels]}
    return _command({"protocol": 2, "role": "attacker", "name": name, "version": version}, {}, answer)


def measurement(name: str, version: str = "1", title: str = "", unit: str = "",
                better: str = "") -> Callable[[_Function], Command]:
    """A measurement: ``function(original, private)`` returns a number for one pair of texts.

    mldp takes the mean over documents with its interval.

    Args:
        name: that of the quantity.
        version: is raised when its numbers change.
        title: that of its column.
        unit: of the number.
        better: "up", "down" or "" where neither is.

    Returns:
        A decorator, which makes the function a :class:`Command`.

    >>> @measurement("same-size", title="same size", better="up")
    ... def same(original, private):
    ...     return float(len(original) == len(private))
    >>> same.serve(['{"id": 1, "original": ["ab"], "private": ["cd"]}'])
    {"protocol": 2, "role": "measurement", "name": "same-size", "version": "1", "title": "same size", "better": "up"}
    {"id": 1, "values": [1.0]}
    """
    def answer(function: _Function, request: dict[str, Any]) -> dict[str, Any]:
        return {"values": [function(a, b) for a, b in zip(request["original"], request["private"])]}
    return _command({"protocol": 2, "role": "measurement", "name": name, "version": version},
                    {"title": title, "unit": unit, "better": better}, answer)


def _command(hello: dict[str, Any], said: Mapping[str, Any],
             answer: _Answer) -> Callable[[_Function], Command]:
    """A decorator; of ``said`` what is empty is left out of the hello."""
    hello.update({key: value for key, value in said.items() if value})
    return lambda function: Command(function, hello, answer)
