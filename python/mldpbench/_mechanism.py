"""A built-in mechanism, used from Python."""

from __future__ import annotations

import json
import secrets
import subprocess
from types import TracebackType
from typing import Iterable, Mapping, Sequence

from ._program import MldpError, call, program


class Mechanism:
    """A mechanism of mldp at one epsilon.

    ``embedding`` is a vector file, the name of one in the data folder, or
    ``generated``. Other options of ``mldp serve`` are keywords:
    ``variant="released"``, ``restrict="agnews"``, ``dimension=50``;
    ``parameters`` is a mapping such as ``{"t": 0.75}``.

        with Mechanism("cmp", epsilon=10, embedding="vectors.txt") as m:
            private = m.privatise(["the food was superb"])
    """

    def __init__(self, name: str, epsilon: float, embedding: str,
                 parameters: Mapping[str, object] | None = None, **options: object) -> None:
        self.epsilon = epsilon
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
        """Privatises lists of words. Without ``seeds`` (64 hexadecimal digits a document) nothing can be repeated."""
        assert self._process.stdin is not None
        texts = [list(d) for d in documents]
        if not texts:
            return []
        self._requests += 1
        request = {"id": self._requests, "epsilon": self.epsilon, "documents": texts,
                   "seeds": list(seeds) if seeds is not None else [secrets.token_hex(32) for _ in texts]}
        self._process.stdin.write(json.dumps(request, ensure_ascii=False) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._read())
        if "documents" not in answer:
            raise MldpError(answer.get("error") or answer.get("undefined"), 1)
        return answer["documents"]

    def privatise(self, texts: Iterable[str], seeds: Sequence[str] | None = None) -> list[str]:
        """Privatises texts, split into words at white space."""
        return [" ".join(words) for words in self.privatise_tokens((t.split() for t in texts), seeds)]

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
