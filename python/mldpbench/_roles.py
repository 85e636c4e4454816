"""Python functions as commands of a study.

A command speaks lines of JSON (docs/external.md). Each decorator gives a function the method ``serve()``, which does
that; a study names its file as ``command: [python3, krr.py]``.
"""

from __future__ import annotations

import contextlib
import json
import random
import sys
import traceback
from typing import Any, Callable, IO, Iterable, Mapping, Sequence

Row = Mapping[str, Any]


class Command:
    """A function with a hello and a way to answer one request."""

    def __init__(self, function: Callable[..., Any], hello: dict[str, Any],
                 answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self.function, self.hello, self._answer = function, hello, answer
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)

    def serve(self, source: Iterable[str] | None = None, sink: IO[str] | None = None) -> None:
        """Answers requests from ``source`` (standard input) on ``sink`` (standard output) until the input ends.

        What the function prints goes to standard error: libraries greet, and that is no answer.
        """
        out = sink or sys.stdout
        out.write(json.dumps(self.hello, ensure_ascii=False) + "\n")
        out.flush()
        for line in source or sys.stdin:
            request = json.loads(line)
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    answer = self._answer(request)
            except Exception as failed:  # one request fails, not the process
                traceback.print_exc()
                answer = {"error": f"{type(failed).__name__}: {failed} ({self._place(failed)})"}
            out.write(json.dumps({"id": request["id"], **answer}, ensure_ascii=False) + "\n")
            out.flush()

    def _place(self, failed: BaseException) -> str:
        """Where an exception passed through the file of the function last, else where it was raised."""
        frames = traceback.extract_tb(failed.__traceback__)
        code = getattr(self.function, "__code__", None)
        own = [f for f in frames if code is not None and f.filename == code.co_filename]
        return "{0.filename}:{0.lineno}, in {0.name}".format((own or frames)[-1])


def mechanism(name: str, version: str = "1", guarantee: Mapping[str, Any] | None = None, aligned: bool = True,
              text: bool = False, parameters: Mapping[str, Any] | None = None,
              repeatable: bool = True) -> Callable[[Callable[..., Any]], Command]:
    """A mechanism: ``function(tokens, epsilon, rng)`` returns the private tokens of a document.

    With ``text`` it takes and returns a whole text. ``rng`` is a :class:`random.Random` of the document's own seed:
    with another source of randomness, say ``repeatable=False``.

    >>> @mechanism("shout")
    ... def shout(tokens, epsilon, rng):
    ...     return [t.upper() for t in tokens]
    >>> shout.serve(['{"id": 1, "epsilon": 5, "seeds": ["00"], "documents": [["a", "b"]]}'])
    {"protocol": 1, "name": "shout", "version": "1", "repeatable": true}
    {"id": 1, "documents": [["A", "B"]]}
    """
    hello: dict[str, Any] = {"protocol": 1, "name": name, "version": version, "repeatable": repeatable}
    if guarantee:
        hello["guarantee"] = dict(guarantee)
    if not aligned:
        hello["aligned"] = False
    if text:
        hello["input"] = "text"
    if parameters:
        hello["parameters"] = dict(parameters)

    def decorate(function: Callable[..., Any]) -> Command:
        def answer(request: dict[str, Any]) -> dict[str, Any]:
            key = "texts" if "texts" in request else "documents"
            return {key: [function(d, request["epsilon"], random.Random(seed))
                          for d, seed in zip(request[key], request["seeds"])]}
        return Command(function, hello, answer)
    return decorate


def attacker(name: str, version: str = "1") -> Callable[[Callable[..., Any]], Command]:
    """An attacker of a private label: ``function(train, test, rng)`` returns a label for each test text.

    ``train`` are (text, label) pairs, ``test`` texts. mldp decides whether they
    are plain or released, measures floor and ceiling with it, and counts.

    >>> @attacker("first")
    ... def first(train, test, rng):
    ...     return [train[0][1] for _ in test]
    >>> first.serve(['{"id": 1, "seed": "00", "train": [["a", 1]], "test": ["b", "c"]}'])
    {"protocol": 2, "role": "attacker", "name": "first", "version": "1"}
    {"id": 1, "labels": [1, 1]}
    """
    hello = {"protocol": 2, "role": "attacker", "name": name, "version": version}

    def decorate(function: Callable[..., Any]) -> Command:
        def answer(request: dict[str, Any]) -> dict[str, Any]:
            train: Sequence[tuple[str, int]] = [(text, label) for text, label in request["train"]]
            return {"labels": list(function(train, request["test"], random.Random(request["seed"])))}
        return Command(function, hello, answer)
    return decorate


def measurement(name: str, version: str = "1", title: str = "", unit: str = "",
                better: str = "") -> Callable[[Callable[..., Any]], Command]:
    """A measurement: ``function(original, private)`` returns a number for one pair of texts.

    ``better`` is "up", "down" or "". mldp takes the mean over documents with its interval.

    >>> @measurement("same-length", title="same length", better="up")
    ... def same(original, private):
    ...     return float(len(original) == len(private))
    >>> same.serve(['{"id": 1, "original": ["ab"], "private": ["cd"]}'])
    {"protocol": 2, "role": "measurement", "name": "same-length", "version": "1", "title": "same length", "better": "up"}
    {"id": 1, "values": [1.0]}
    """
    hello: dict[str, Any] = {"protocol": 2, "role": "measurement", "name": name, "version": version}
    hello.update({key: value for key, value in (("title", title), ("unit", unit), ("better", better)) if value})

    def decorate(function: Callable[..., Any]) -> Command:
        def answer(request: dict[str, Any]) -> dict[str, Any]:
            return {"values": [function(a, b) for a, b in zip(request["original"], request["private"])]}
        return Command(function, hello, answer)
    return decorate
