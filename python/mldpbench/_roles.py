"""Python functions as commands of a study.

A command speaks lines of JSON (docs/external.md). Each decorator gives a function the method ``serve()``, which does
that; a study names its file as ``command: [python3, krr.py]``, and mldpbench.compare needs no file.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import json
import random
import socketserver
import sys
import threading
import traceback
from typing import Any, Callable, IO, Iterable, Iterator, Mapping


class Command:
    """A function with a hello and a way to answer one request."""

    def __init__(self, function: Callable[..., Any], hello: dict[str, Any],
                 answer: Callable[[Callable[..., Any], dict[str, Any]], dict[str, Any]]) -> None:
        self.function, self.hello, self._answer = function, hello, answer
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)

    def serve(self, source: Iterable[str] | None = None, sink: IO[str] | None = None,
              vectors: str | None = None) -> None:
        """Answers requests from ``source`` (standard input) on ``sink`` (standard output) until the input ends.

        ``vectors`` has the words of a function that takes them, by default it is the program's last argument. What the
        function prints goes to standard error: libraries greet, and that is no answer.
        """
        out, function = sink or sys.stdout, self.function
        if "words" in inspect.signature(function).parameters:
            with open(vectors or sys.argv[-1], encoding="utf-8") as lines:
                function = functools.partial(function, words=[line.split(" ")[0] for line in lines])
        with contextlib.nullcontext() if sink else contextlib.redirect_stdout(sys.stderr):
            print(json.dumps(self.hello, ensure_ascii=False), file=out, flush=True)
            for line in source or sys.stdin:
                request = json.loads(line)
                try:
                    answer = self._answer(function, request)
                except Exception as failed:  # one request fails, not the process
                    traceback.print_exc()
                    answer = {"error": f"{type(failed).__name__}: {failed} ({self._place(failed)})"}
                print(json.dumps({"id": request["id"], **answer}, ensure_ascii=False), file=out, flush=True)

    def _place(self, failed: BaseException) -> str:
        """Where an exception passed through the file of the function last, else where it was raised."""
        frames, code = traceback.extract_tb(failed.__traceback__), getattr(self.function, "__code__", None)
        own = [f for f in frames if code and f.filename == code.co_filename]
        return "{0.filename}:{0.lineno}, in {0.name}".format((own or frames)[-1])

    @contextlib.contextmanager
    def listening(self) -> Iterator[int]:
        """Serves each connection to a port of this machine, which says first where {vectors} is; see _relay.py."""
        class Handler(socketserver.StreamRequestHandler):
            def handle(handler) -> None:
                lines = io.TextIOWrapper(handler.rfile, "utf-8")
                self.serve(lines, io.TextIOWrapper(handler.wfile, "utf-8"), lines.readline().rstrip("\n"))

        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield server.server_address[1]
            server.shutdown()


def mechanism(name: str, version: str = "1", guarantee: Mapping[str, Any] | None = None, aligned: bool = True,
              text: bool = False, parameters: Mapping[str, Any] | None = None,
              repeatable: bool = True) -> Callable[[Callable[..., Any]], Command]:
    """A mechanism: ``function(tokens, epsilon, rng)`` returns the private tokens of a document.

    With ``text`` it takes and returns a whole text. ``rng`` is a :class:`random.Random` of the document's own seed:
    with another source of randomness, say ``repeatable=False``. A function that also takes ``words`` gets those of
    ``{vectors}``, which the built-in mechanisms know.

    >>> @mechanism("shout")
    ... def shout(tokens, epsilon, rng):
    ...     return [t.upper() for t in tokens]
    >>> shout.serve(['{"id": 1, "epsilon": 5, "seeds": ["00"], "documents": [["a", "b"]]}'])
    {"protocol": 1, "name": "shout", "version": "1", "repeatable": true}
    {"id": 1, "documents": [["A", "B"]]}
    """
    def answer(function: Callable[..., Any], request: dict[str, Any]) -> dict[str, Any]:
        key = "texts" if "texts" in request else "documents"
        return {key: [function(d, request["epsilon"], random.Random(seed))
                      for d, seed in zip(request[key], request["seeds"])]}
    said = {"guarantee": guarantee, "input": "text" if text else None, "parameters": parameters}
    return _command({"protocol": 1, "name": name, "version": version, "repeatable": repeatable,
                     **({} if aligned else {"aligned": False})}, said, answer)


def attacker(name: str, version: str = "1") -> Callable[[Callable[..., Any]], Command]:
    """An attacker of a private label: ``function(train, test, rng)`` returns a label for each test text.

    ``train`` are (text, label) pairs, ``test`` texts, plain or released. mldp measures floor and ceiling with it.

    >>> @attacker("first")
    ... def first(train, test, rng):
    ...     return [train[0][1] for _ in test]
    >>> first.serve(['{"id": 1, "seed": "00", "train": [["a", 1]], "test": ["b", "c"]}'])
    {"protocol": 2, "role": "attacker", "name": "first", "version": "1"}
    {"id": 1, "labels": [1, 1]}
    """
    hello = {"protocol": 2, "role": "attacker", "name": name, "version": version}
    return _command(hello, {}, lambda function, request: {"labels": list(function(
        [(text, label) for text, label in request["train"]], request["test"], random.Random(request["seed"])))})


def measurement(name: str, version: str = "1", title: str = "", unit: str = "",
                better: str = "") -> Callable[[Callable[..., Any]], Command]:
    """A measurement: ``function(original, private)`` returns a number for one pair of texts.

    ``better`` is "up", "down" or "". mldp takes the mean over documents with its interval.

    >>> @measurement("same-size", title="same size", better="up")
    ... def same(original, private):
    ...     return float(len(original) == len(private))
    >>> same.serve(['{"id": 1, "original": ["ab"], "private": ["cd"]}'])
    {"protocol": 2, "role": "measurement", "name": "same-size", "version": "1", "title": "same size", "better": "up"}
    {"id": 1, "values": [1.0]}
    """
    return _command({"protocol": 2, "role": "measurement", "name": name, "version": version},
                    {"title": title, "unit": unit, "better": better}, lambda function, request: {
                        "values": [function(a, b) for a, b in zip(request["original"], request["private"])]})


def _command(hello: dict[str, Any], said: Mapping[str, Any],
             answer: Callable[..., dict[str, Any]]) -> Callable[[Callable[..., Any]], Command]:
    """A decorator; of ``said`` what is empty is left out of the hello."""
    hello.update({key: value for key, value in said.items() if value})
    return lambda function: Command(function, hello, answer)
