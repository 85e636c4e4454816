"""A built-in mechanism, used from Python."""

from __future__ import annotations

import hashlib
import json
import secrets
import subprocess
import warnings
from types import TracebackType
from typing import Any, Iterable, Mapping, Sequence

from ._program import MldpError, call, program


class Mechanism:
    """A mechanism of mldp at one epsilon.

    ``embedding`` is a vector file, the name of one in the data folder, or
    ``generated``. Other options of ``mldp serve`` are keywords:
    ``variant="released"``, ``restrict="agnews"``, ``dimension=50``,
    ``policy="drop"``, ``case="keep"``; ``parameters`` is a mapping such as
    ``{"t": 0.75}``. With a ``seed``, a number, the texts of all calls are those
    of ``mldp privatize --seed`` for the same lines; it undoes the protection.

    ``words``, ``changed`` and ``unknown`` count the words of all texts so far.

        with Mechanism("cmp", epsilon=10, embedding="vectors.txt") as m:
            private = m.privatise(["the food was superb"])
    """

    def __init__(self, name: str, epsilon: float, embedding: str,
                 parameters: Mapping[str, object] | None = None, seed: int | None = None, **options: object) -> None:
        self.epsilon = epsilon
        self.words = self.changed = self.unknown = 0
        self._drawn, self._root = 0, None
        if seed is not None:
            options["seed"] = seed
            # stream.FromUint64(seed).Derive("text") of mldp
            root = int(seed).to_bytes(8, "little") + bytes(24)
            self._root = hashlib.sha256(root + len(b"text").to_bytes(8, "little") + b"text").digest()
        self._arguments = ["--mechanism", name, "--embedding", str(embedding)]
        for key, value in options.items():
            self._arguments.append(f"--{key.replace('_', '-')}={value}")
        for key, value in (parameters or {}).items():
            self._arguments.append(f"--param={key}={value}")
        self._process = subprocess.Popen(
            [program(), "serve", *self._arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, encoding="utf-8")
        self._requests = 0
        try:
            self.hello: dict[str, object] = json.loads(self._read())
        except MldpError:
            self.close()
            raise

    @property
    def guarantee(self) -> dict[str, object] | None:
        """What is promised per word, None for nothing."""
        return self.hello.get("guarantee")  # type: ignore[return-value]

    def _read(self) -> str:
        assert self._process.stdout is not None and self._process.stderr is not None
        line = self._process.stdout.readline()
        if not line:
            message = self._process.stderr.read().strip().splitlines()
            raise MldpError(message[-1] if message else "mldp ended", self._process.wait())
        return line

    def privatise_tokens(self, documents: Iterable[Sequence[str]], seeds: Sequence[str] | None = None) -> list[list[str]]:
        """Privatises lists of words, each looked up as it is spelled.

        Without ``seeds`` (64 hexadecimal digits a document) or a seed of the mechanism nothing can be repeated.
        """
        return self._ask("documents", [list(d) for d in documents], seeds).get("documents", [])

    def privatise(self, texts: Iterable[str], seeds: Sequence[str] | None = None) -> list[str]:
        """Privatises texts as ``mldp privatize`` does lines: it finds the words, capital or not, and copies the rest.

        Warns where more than a quarter of the words are not in the vocabulary.
        """
        answer = self._ask("texts", list(texts), seeds)
        words, unknown = answer.get("words", 0), answer.get("unknown", 0)
        self.words, self.unknown = self.words + words, self.unknown + unknown
        self.changed += answer.get("changed", 0)
        if unknown > words / 4:
            warnings.warn(f"{100 * unknown / words:.0f}% of the words are not in the vocabulary: are these the right "
                          "vectors for the text?", stacklevel=2)
        return answer.get("texts", [])

    def _ask(self, what: str, documents: Sequence[object], seeds: Sequence[str] | None) -> dict[str, Any]:
        """Sends one request and returns its answer."""
        assert self._process.stdin is not None
        if not documents:
            return {}
        self._requests += 1
        request = {"id": self._requests, "epsilon": self.epsilon, what: documents,
                   "seeds": list(seeds) if seeds is not None else [self._seed() for _ in documents]}
        self._process.stdin.write(json.dumps(request, ensure_ascii=False) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._read())
        if what not in answer:
            raise MldpError(answer.get("error") or answer.get("undefined"), 1)
        return answer

    def _seed(self) -> str:
        """The seed of the next text."""
        if self._root is None:
            return secrets.token_hex(32)
        self._drawn += 1  # stream.Seed.At of the number before
        return hashlib.sha256(self._root + b"#" + (self._drawn - 1).to_bytes(8, "little")).hexdigest()

    def distribution(self, word: str, top: int = 1_000_000) -> dict[str, float]:
        """The likeliest outputs for a word with their probabilities: exact, or sampled where no form is known."""
        text = call("explain", *self._arguments, "--epsilon", repr(self.epsilon), "--words", word, "--top", str(top),
                    "--json")
        return {row["becomes"] or "": row["probability"] for row in json.loads(text)["tables"]["outputs"]}

    def close(self) -> None:
        """Ends the program."""
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._process.wait()

    def __enter__(self) -> "Mechanism":
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
