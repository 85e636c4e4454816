"""A built-in mechanism, used from Python."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import itertools
import json
import math
import operator
import os
import re
import secrets
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._program import MldpError, call, is_missing, listed, options_of, seed_of, texts_of
from ._service import Lines, Service

_LINE = 8 << 20  # bytes of a text, which is sent with at most 1 MiB of others: a line has at most 10 MiB
_encoded = json.JSONEncoder(ensure_ascii=False).encode
_SEED = re.compile("[0-9a-fA-F]{64}")


class Mechanism(contextlib.AbstractContextManager["Mechanism"]):
    """A mechanism of mldp at one epsilon, which is given or found.

    Threads may share one, which answers one call after the other. A forked child, an interrupted call and a copy by
    pickle, which has the arguments only, start a process of their own. The process ends with the object.

    Args:
        name: may have a variant, as in ``"tem:released"``.
        epsilon: per word, > 0, in the distance that ``guarantee`` names; or None, with a target.
        embedding: a vector file, the name of one in the data folder such as ``glove.6B.100d``, or ``generated``, toy
            vectors for tests.
        target: such as ``"em=0.5"``, instead of epsilon: the one at which a Bayes adversary misidentifies that
            share of the words, as ``mldp calibrate`` finds it.
        sample: texts whose words are to be hidden by the target; None is all words of the vocabulary.
        parameters: a mapping such as ``{"t": 0.75}``.
        key: a file of ``mldp key``: the text of a row is that of ``mldp privatize --key``, by its id.
        release: the name of the release that the key is used for.
        seed: a whole number, for tests; the texts of all calls are those of ``mldp privatize --seed`` for the same
            lines. It undoes the protection. Each process and each copy counts the lines by itself.
        restrict: keeps the words of a data set.
        vocabulary: keeps that many first words.
        policy: for unknown words: random, keep or drop.
        case: keep or vocabulary.
        keep_words: words that pass unchanged, such as stop words: a list, a text of them, or a file.
        layout: written, plain or ``fixed=N``, as of ``mldp privatize``.
        options: others of ``mldp serve``.

    Attributes:
        epsilon: the privacy parameter.
        words, changed, unknown: numbers of words of all texts so far.
        missing: the number of values that were passed through, as they are no texts.

    Raises:
        MldpError: for what mldp refuses.
    """

    def __init__(self, name: str, epsilon: float | None = None, embedding: str | os.PathLike[str] | None = None,
                 *, target: str | None = None, sample: Iterable[str] | None = None,
                 parameters: Mapping[str, object] | None = None, seed: int | None = None,
                 restrict: str | None = None, vocabulary: int | None = None, policy: str | None = None,
                 case: str | None = None, keep_words: str | Iterable[str] | None = None, layout: str | None = None,
                 key: str | os.PathLike[str] | None = None, release: str | None = None, **options: object) -> None:
        if embedding is None:
            raise MldpError("embedding is missing: name a vector file, or vectors of the data folder such as "
                            '"glove.6B.100d" (get them with: mldp data fetch glove.6B.100d)', 2)
        if keep_words is not None:
            words = keep_words if isinstance(keep_words, str) else " ".join(texts_of("keep_words", keep_words))
            options["keep_words"] = words
        options.update(restrict=restrict, vocabulary=vocabulary, policy=policy, case=case, layout=layout,
                       release=release, key=None if key is None else os.fspath(key))
        given = {"name": name, "epsilon": epsilon, "embedding": os.fspath(embedding), "parameters": parameters,
                 "seed": seed, "options": options}
        if target is None and sample is not None:
            raise MldpError("sample is of a target, such as target=\"em=0.5\"", 2)
        if target is not None:
            if epsilon is not None:
                raise MldpError(f"epsilon = {epsilon} and target = {target!r}: must be one of them", 2)
            given["epsilon"] = _epsilon_at(target, given, sample)
        self._prepare(given)
        _ = self.hello  # starts it: what is wrong is said here

    def __reduce__(self) -> tuple[Any, ...]:
        return _copied, (type(self), self._given)

    def _prepare(self, given: dict[str, Any]) -> None:
        """Checks the arguments; nothing is started."""
        self._given = given
        epsilon = given["epsilon"]
        with contextlib.suppress(TypeError, ValueError):
            self.epsilon = float(epsilon)
        if not 0 < getattr(self, "epsilon", math.nan) < math.inf:
            raise MldpError(f"epsilon = {epsilon}: must be > 0 and finite", 2)
        self.words = 0
        self.changed = 0
        self.unknown = 0
        self.missing = 0
        self._drawn = 0
        self._root: bytes | None = None
        options = dict(given["options"])
        self._keyed = options.get("key") is not None
        if self._keyed and given["seed"] is not None:
            raise MldpError("seed: a mechanism with a key has none", 2)
        if given["seed"] is not None:
            seed = seed_of(given["seed"])
            options["seed"] = seed
            # stream.FromUint64(seed).Derive("text") of mldp
            root = seed.to_bytes(8, "little") + bytes(24)
            self._root = hashlib.sha256(root + len(b"text").to_bytes(8, "little") + b"text").digest()
        self._arguments = [*_instance(given), *options_of(options)]
        self._service = self._new_service()

    def _new_service(self) -> Service:
        """What answers the requests."""
        return Service(self._arguments)

    @property
    def _process(self) -> Lines | None:
        """The process that waits for a request."""
        return self._service.idle

    @property
    def hello(self) -> dict[str, Any]:
        """What the mechanism says of itself."""
        return self._service.hello

    @property
    def guarantee(self) -> dict[str, object] | None:
        """The guarantee per word, None for none."""
        return self.hello.get("guarantee")

    def privatise(self, texts: Iterable[Any], seeds: Sequence[str] | None = None,
                  *, missing: str = "refuse", ids: Iterable[Any] | None = None, column: str = "") -> list[Any]:
        """Privatises texts as ``mldp privatize`` does lines: it finds the words, capital or not, and copies the rest.

        Without ``seeds`` or a seed of the mechanism nothing can be repeated. Warns where more than a quarter of the
        words are not in the vocabulary.

        Args:
            texts: a list, a Series or a column.
            seeds: 64 hexadecimal digits for each text.
            ids: with a key, that of each text, a text or a whole number.
            column: with a key, the name of the column of a table that the texts are.
            missing: ``"keep"`` passes None and NaN through, and counts them; ``"refuse"`` is an error.

        Returns:
            One privatised text for each text, in their order.

        Raises:
            MldpError: names the index of what is no text, before any text is sent; or says why there is no answer.
        """
        if missing not in ("keep", "refuse"):
            raise MldpError(f'missing = {missing!r}: must be "keep" or "refuse"', 2)
        given = listed("texts", texts)
        kept = {i for i, value in enumerate(given) if missing == "keep" and is_missing(value)}
        private = [value if i in kept else None for i, value in enumerate(given)]
        places = [i for i in range(len(given)) if i not in kept]
        written = texts_of("texts", ["" if i in kept else value for i, value in enumerate(given)])
        sizes = [len(_encoded(t).encode()) + 70 for t in written]
        if max(sizes, default=0) > _LINE:
            raise MldpError(f"texts[{sizes.index(max(sizes))}] has more than {_LINE:,} bytes", 2)
        names = self._names(ids, seeds, len(written))
        if names is None:
            seeds = self._seeds(len(written)) if seeds is None else _checked(seeds, len(written))
        words = 0
        unknown = 0
        for batch in _batches(places, sizes):
            request: dict[str, Any] = {"epsilon": self.epsilon, "texts": [written[i] for i in batch]}
            if names is not None:
                request.update(ids=[names[i] for i in batch], column=column)
            elif seeds is not None:
                request.update(seeds=[seeds[i] for i in batch])
            answer = self._service.ask(request)
            after = answer.get("texts", ())
            if len(after) != len(batch):
                raise MldpError(answer.get("error") or answer.get("undefined") or "no answer", 1)
            for i, text in zip(batch, after):
                private[i] = text
            self._count(answer)
            words += answer.get("words", 0)
            unknown += answer.get("unknown", 0)
        with self._service.lock:
            self.missing += len(kept)
        if unknown > words / 4:
            warnings.warn(f"{100 * unknown / words:.0f}% of the words are not in the vocabulary: are these the right "
                          "vectors for the text?", stacklevel=2)
        return private

    def _count(self, answer: Mapping[str, Any]) -> None:
        with self._service.lock:
            self.words += answer.get("words", 0)  # 0 is left out
            self.changed += answer.get("changed", 0)
            self.unknown += answer.get("unknown", 0)

    def _names(self, ids: Iterable[Any] | None, seeds: Sequence[str] | None, count: int) -> list[str] | None:
        """The ids of texts as the program takes them, None without a key."""
        if not self._keyed:
            if ids is not None:
                raise MldpError("ids: belong to a mechanism with a key", 2)
            return None
        if ids is None:
            raise MldpError("ids: a mechanism with a key needs one for each text", 2)
        if seeds is not None:
            raise MldpError("seeds: a mechanism with a key takes ids", 2)
        names = [_id(i, value) for i, value in enumerate(listed("ids", ids))]
        if len(names) != count:
            raise MldpError(f"{len(names)} ids for {count} texts", 2)
        seen: set[str] = set()
        for i, name in enumerate(names):
            if name in seen:
                raise MldpError(f"ids[{i}] = {name!r}: is that of an earlier text, too: each needs its own", 2)
            seen.add(name)
        return names

    def _seeds(self, count: int) -> list[str]:
        """Those of the next texts."""
        if self._root is None:
            return [secrets.token_hex(32) for _ in range(count)]
        with self._service.lock:
            first = self._drawn
            self._drawn += count
        numbers = range(first, first + count)  # stream.Seed.At
        return [hashlib.sha256(self._root + b"#" + n.to_bytes(8, "little")).hexdigest() for n in numbers]

    def distribution(self, word: str, top: int = 1_000_000) -> dict[str, float]:
        """The likeliest outputs for a word with their probabilities: exact, or sampled where no form is known.

        Args:
            word: one of the vocabulary.
            top: how many.

        Returns:
            A probability for each output; that of "" is of no output.

        Raises:
            MldpError: for a word that the vocabulary has not.
        """
        of_texts = ("--case=", "--policy=", "--layout=", "--keep-words=", "--key=", "--release=", "--workers=")
        of_words = [a for a in self._arguments if not a.startswith(of_texts)]
        text = call("explain", *of_words, "--epsilon", repr(self.epsilon), "--words", str(word), "--top", str(top),
                    "--json")
        return {row["becomes"] or "": row["probability"] for row in json.loads(text)["tables"]["outputs"]}

    def close(self) -> None:
        """Ends the process. Calls after it are an MldpError."""
        self._service.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _copied(kind: type[Mechanism], given: dict[str, Any]) -> Mechanism:
    """A mechanism with these arguments, whose process starts when it is used."""
    copy = kind.__new__(kind)
    copy._prepare(given)
    return copy


def _instance(given: Mapping[str, Any]) -> list[str]:
    """The mechanism with its parameters and vectors, as options of a command."""
    parameters = given["parameters"] or {}
    if not isinstance(parameters, Mapping):
        raise MldpError(f"parameters is a {type(parameters).__name__}: must be a dict", 2)
    name = " ".join([str(given["name"]), *(f"{key}={value}" for key, value in parameters.items())])
    return [f"--mechanism={name}", f"--embedding={given['embedding']}"]


def _epsilon_at(target: str, given: Mapping[str, Any], sample: Iterable[str] | None) -> float:
    """The epsilon at which a mechanism reaches a target, of the words of texts or of the vocabulary.

    Args:
        target: such as ``"em=0.5"``.
        given: the arguments of a :class:`Mechanism`.
        sample: the texts, or None.

    Returns:
        The epsilon.

    Raises:
        MldpError: for a target that can't be one, or that is out of reach.
    """
    of_vectors = {key: given["options"].get(key) for key in ("restrict", "vocabulary")}
    arguments = ["calibrate", "--target", str(target), *_instance(given), *options_of(of_vectors), "--json"]
    with tempfile.TemporaryDirectory() as folder:
        if sample is not None:
            table = Path(folder, "sample.csv")
            with open(table, "w", encoding="utf-8", newline="") as lines:
                csv.writer(lines).writerows([["text"], *([text] for text in texts_of("sample", sample))])
            arguments += ["--text", str(table), "--column", "text"]
        found = json.loads(call(*arguments))["tables"]["mechanisms"]
    if len(found) != 1:
        raise MldpError(f"target = {target!r}: must be one, such as em=0.5", 2)
    if found[0]["epsilon"] is None:
        raise MldpError(f"target = {target!r}: {found[0]['reason']}", 1)
    return float(found[0]["epsilon"])


def _id(i: int, value: Any) -> str:
    """An id as the program takes it."""
    if isinstance(value, str) and value:
        return value
    if not isinstance(value, bool):
        try:
            return str(operator.index(value))
        except TypeError:
            pass
    raise MldpError(f"ids[{i}] = {value!r}: must be a text that is not empty, or a whole number", 2)


def _checked(seeds: Sequence[str], count: int) -> list[str]:
    """The seeds of a caller, one for each text."""
    given: list[str] = listed("seeds", seeds)
    if len(given) != count:
        raise MldpError(f"{len(given)} seeds for {count} texts", 2)
    for i, seed in enumerate(given):
        if not isinstance(seed, str) or not _SEED.fullmatch(seed):
            raise MldpError(f"seeds[{i}] = {seed!r}: must be 64 hexadecimal digits", 2)
    return given


def _batches(places: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts that are sent together, about 1 MiB."""
    ends = itertools.accumulate(sizes[i] for i in places)
    for _, batch in itertools.groupby(zip(ends, places), lambda row: row[0] >> 20):
        yield [place for _, place in batch]
