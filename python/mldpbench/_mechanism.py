"""A built-in mechanism, used from Python."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import math
import secrets
import subprocess
import tempfile
import warnings
from typing import Any, Iterable, Mapping, Sequence

from ._program import MldpError, call, options_of, program, texts_of

_LINE = 8 << 20  # bytes of a text, which is sent with at most 1 MiB of others: a line has at most 10 MiB


class Mechanism(contextlib.AbstractContextManager["Mechanism"]):
    """A mechanism of mldp at one epsilon.

    ``name`` may have a variant, as in ``"tem:released"``. ``embedding`` is a vector file, the name of one in the data
    folder such as ``glove.6B.100d``, or ``generated``. ``epsilon`` is per word, > 0, in the distance that ``guarantee``
    names. ``parameters`` is a mapping such as ``{"t": 0.75}``. With a ``seed``, for tests, the texts of all calls are
    those of ``mldp privatize --seed`` for the same lines; it undoes the protection. ``restrict`` keeps the words of a
    data set, ``vocabulary`` that many first ones; ``policy`` is for unknown words: random, keep or drop; ``case`` is
    keep or vocabulary. What is refused is an MldpError. ``words``, ``changed`` and ``unknown`` count words of all texts
    so far.
    """

    def __init__(self, name: str, epsilon: float, embedding: str,
                 *, parameters: Mapping[str, object] | None = None, seed: int | None = None,
                 restrict: str | None = None, vocabulary: int | None = None, policy: str | None = None,
                 case: str | None = None, **options: object) -> None:
        options.update(restrict=restrict, vocabulary=vocabulary, policy=policy, case=case)
        with contextlib.suppress(TypeError, ValueError):
            self.epsilon = float(epsilon)
        if not 0 < getattr(self, "epsilon", math.nan) < math.inf:
            raise MldpError(f"epsilon = {epsilon}: must be > 0 and finite", 2)
        self.words = self.changed = self.unknown = 0
        self._drawn, self._root = 0, None
        if seed is not None:
            options["seed"] = seed
            # stream.FromUint64(seed).Derive("text") of mldp
            root = int(seed).to_bytes(8, "little") + bytes(24)
            self._root = hashlib.sha256(root + len(b"text").to_bytes(8, "little") + b"text").digest()
        instance = " ".join([name, *(f"{key}={value}" for key, value in (parameters or {}).items())])
        self._arguments = [f"--mechanism={instance}", f"--embedding={embedding}", *options_of(options)]
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8")
        self._process: Any = subprocess.Popen([program(), "serve", *self._arguments], stdin=subprocess.PIPE,
                                              stdout=subprocess.PIPE, stderr=self._said, text=True, encoding="utf-8")
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
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._said.seek(0)
            message = self._said.read().strip().splitlines()
            raise MldpError(message[-1] if message else "mldp ended", code)
        return line

    def privatise(self, texts: Iterable[str], seeds: Sequence[str] | None = None) -> list[str]:
        """Privatises texts as ``mldp privatize`` does lines: it finds the words, capital or not, and copies the rest.

        Without ``seeds`` (64 hexadecimal digits a text) or a seed of the mechanism nothing can be repeated.
        Warns where more than a quarter of the words are not in the vocabulary. What is no text (None, NaN) is an
        MldpError that names its index, before any text is read.
        """
        texts, before = texts_of("texts", texts), (self.words, self.unknown)
        seeds = [self._seed() for _ in texts] if seeds is None else list(seeds)
        if len(seeds) != len(texts):
            raise MldpError(f"{len(seeds)} seeds for {len(texts)} texts", 2)
        sizes = [len(json.dumps(t, ensure_ascii=False).encode()) + 70 for t in texts]
        if max(sizes, default=0) > _LINE:
            raise MldpError(f"texts[{sizes.index(max(sizes))}] has more than {_LINE:,} bytes", 2)
        private: list[str] = []
        ends = itertools.accumulate(sizes)
        for _, batch in itertools.groupby(zip(ends, texts, seeds), lambda row: row[0] >> 20):
            _, some, theirs = zip(*batch)
            self._requests += 1
            request = {"id": self._requests, "epsilon": self.epsilon, "texts": some, "seeds": theirs}
            with contextlib.suppress(BrokenPipeError):  # reading says why
                self._process.stdin.write(json.dumps(request, ensure_ascii=False) + "\n")
                self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._read())
            if len(answer.get("texts", ())) != len(some):
                raise MldpError(answer.get("error") or answer.get("undefined") or "no answer", 1)
            private += answer["texts"]
            for count in ("words", "changed", "unknown"):  # 0 is left out
                setattr(self, count, getattr(self, count) + answer.get(count, 0))
        words, unknown = self.words - before[0], self.unknown - before[1]
        if unknown > words / 4:
            warnings.warn(f"{100 * unknown / words:.0f}% of the words are not in the vocabulary: are these the right "
                          "vectors for the text?", stacklevel=2)
        return private

    def _seed(self) -> str:
        if self._root is None:
            return secrets.token_hex(32)
        self._drawn += 1  # stream.Seed.At of the number before
        return hashlib.sha256(self._root + b"#" + (self._drawn - 1).to_bytes(8, "little")).hexdigest()

    def distribution(self, word: str, top: int = 1_000_000) -> dict[str, float]:
        """The likeliest outputs for a word with their probabilities: exact, or sampled where no form is known."""
        of_words = [a for a in self._arguments if not a.startswith(("--case=", "--policy="))]  # not of texts
        text = call("explain", *of_words, "--epsilon", repr(self.epsilon), "--words", word, "--top", str(top),
                    "--json")
        return {row["becomes"] or "": row["probability"] for row in json.loads(text)["tables"]["outputs"]}

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._said):
            with contextlib.suppress(OSError):  # it has ended already
                stream.close()
        self._process.wait()

    def __exit__(self, *_: object) -> None:
        self.close()
