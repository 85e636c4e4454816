"""What makes a function another one, so that its kept results are not used."""

from __future__ import annotations

import collections
import csv
import dataclasses
import enum
import functools
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import mldpbench
from mldpbench._fingerprint import Unseen, fingerprint

RATE = 0.5
TABLE: dict[str, Any] = {"words": ["a", "b"], "kept": {"c", "d"}}
LOCK = threading.Lock()


def helper(token: str) -> str:
    return token * int(RATE * 2)


def reads_variable(tokens: list[str]) -> list[str]:
    return [t for t in tokens if len(t) > RATE]


def reads_table(tokens: list[str]) -> list[str]:
    return [t for t in tokens if t in TABLE["words"]]


def calls_helper(tokens: list[str]) -> list[str]:
    return [helper(t) for t in tokens]


def calls_itself(tokens: list[str]) -> list[str]:
    return calls_itself(tokens[1:]) if tokens and RATE else tokens


def inside(tokens: list[str]) -> list[str]:
    def one(token: str) -> str:
        return helper(token)
    return [one(t) for t in tokens]


class Model:
    factor = 2

    def __init__(self, weights: Any) -> None:
        self.weights = weights
        self.pattern = re.compile("a+")

    def __call__(self, tokens: list[str]) -> list[str]:
        return [self.one(t) for t in tokens]

    def one(self, token: str) -> str:
        return token * self.factor

    @property
    def size(self) -> int:
        return self.factor


@dataclasses.dataclass
class Settings:
    rate: float = 0.1
    words: list[str] = dataclasses.field(default_factory=list)


class Kind(enum.Enum):
    ONE = 1
    TWO = 2


Point = collections.namedtuple("Point", "x y")


def closure(value: Any) -> Any:
    def function(tokens: list[str]) -> list[str]:
        return [t for t in tokens if value]
    return function


def default(value: Any) -> Any:
    def function(tokens: list[str], extra: Any = value) -> list[str]:
        return tokens + [extra]
    return function


def keyword(value: Any) -> Any:
    def function(tokens: list[str], *, extra: Any = value) -> list[str]:
        return tokens + [extra]
    return function


def decorated(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*arguments: Any) -> Any:
        return function(*arguments)
    return wrapper


def opens(tokens: list[str]) -> list[str]:
    with open("words.txt", encoding="utf-8") as lines:
        return [*lines]


def loads(tokens: list[str]) -> Any:
    return json.load(sys.stdin)


def environment(tokens: list[str]) -> list[str]:
    return [os.environ["WORD"] for _ in tokens]


def evaluates(tokens: list[str]) -> Any:
    return eval("RATE")


def imports(tokens: list[str]) -> Any:
    import no_such_module  # type: ignore[import-not-found]
    return no_such_module.word(tokens)


class TestFingerprint(unittest.TestCase):
    def test_changes(self) -> None:
        pairs: dict[str, tuple[Any, Any]] = {
            "closure": (closure(1), closure(2)), "default": (default(1), default(2)),
            "keyword default": (keyword("a"), keyword("b")),
            "partial": (functools.partial(Point, 1), functools.partial(Point, 2)),
            "keyword of a partial": (functools.partial(Point, x=1), functools.partial(Point, y=1)),
            "object": (Model([1]), Model([2])), "method": (Model([1]).one, Model([2]).one),
            "nested object": (closure(Model([Model(1)])), closure(Model([Model(2)]))),
            "list": (closure(["ab", "c"]), closure(["a", "bc"])), "nesting": (closure([[1], 2]), closure([[1, 2]])),
            "order of a dict": (closure({1: 2, 3: 4}), closure({3: 4, 1: 2})),
            "set": (closure({1, 2}), closure({1, 3})), "type": (closure(1), closure(1.0)),
            "text and bytes": (closure("a"), closure(b"a")), "true and one": (closure(True), closure(1)),
            "dataclass": (closure(Settings(0.1)), closure(Settings(0.2))),
            "enumeration": (closure(Kind.ONE), closure(Kind.TWO)), "tuple": (closure(Point(1, 2)), closure((1, 2))),
            "decorator": (decorated(closure(1)), decorated(closure(2))),
            "cache": (functools.lru_cache(closure(1)), functools.lru_cache(closure(2))),
            "counter": (closure(collections.Counter("aab")), closure(collections.Counter("abb"))),
            "pattern": (closure(re.compile("a")), closure(re.compile("a", re.IGNORECASE))),
            "lambda": (lambda tokens: tokens[:1], lambda tokens: tokens[:2]),
            "iterator": (closure(itertools.count(1)), closure(itertools.count(2))),
        }
        for name, (before, after) in pairs.items():
            self.assertNotEqual(fingerprint(before), fingerprint(after), f"{name}: two functions have one fingerprint")

    def test_changes_of_what_is_reached(self) -> None:
        """Variables, helpers and classes of the module, changed in place or replaced."""
        model = Model(1)
        changes: list[tuple[Any, Any]] = [
            (reads_variable, mock.patch(f"{__name__}.RATE", 0.7)), (calls_helper, mock.patch(f"{__name__}.RATE", 0.7)),
            (inside, mock.patch(f"{__name__}.RATE", 0.7)), (calls_itself, mock.patch(f"{__name__}.RATE", 0.7)),
            (closure(calls_helper), mock.patch(f"{__name__}.RATE", 0.7)),
            (calls_helper, mock.patch(f"{__name__}.helper", closure(1))),
            (reads_table, mock.patch.dict(TABLE, words=["a", "c"])), (model, mock.patch.object(Model, "factor", 3)),
            (model, mock.patch.object(Model, "one", lambda self, token: token)),
            (closure(Model), mock.patch.object(Model, "factor", 3)),
            (model.one, mock.patch.object(model, "weights", 2)),
        ]
        for function, change in changes:
            before = fingerprint(function)
            with change:
                self.assertNotEqual(fingerprint(function), before, f"{function} after {change}")
            self.assertEqual(fingerprint(function), before, f"{function} as it was")

    def test_module_of_the_user(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(sys, "path", [folder, *sys.path]):
            Path(folder, "mine_one.py").write_text("import mine_two\ndef word(t): return mine_two.word(t)\n")
            Path(folder, "mine_two.py").write_text("KEPT = True\ndef word(t): return t if KEPT else ''\n")
            import mine_one  # type: ignore[import-not-found]
            function = closure(mine_one)
            before = fingerprint(function)
            mine_one.mine_two.KEPT = False
            self.assertNotEqual(fingerprint(function), before, "a variable of a module that a module imports")

    def test_what_is_not_seen(self) -> None:
        generator = (i for i in range(3))
        for function, says in ((opens, r"open\(\) reads in opens"), (loads, r"\.load reads in loads"),
                               (environment, r"\.environ reads"), (evaluates, r"eval\(\) reads"),
                               (imports, "import no_such_module"), (closure(LOCK), "value in .*, a lock"),
                               (closure(generator), "value in .*, a generator"), (closure(sys.stdin), "value in"),
                               (Model(LOCK), "weights.*a lock"), (closure(types.SimpleNamespace(a=LOCK)), "a lock")):
            with self.assertRaisesRegex(Unseen, says):
                fingerprint(function)
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        with self.assertRaisesRegex(Unseen, "nested too deeply"):
            fingerprint(closure(deep))
        with mldpbench.Mechanism("k-rr", 1, "generated") as m:
            for value in m, m.privatise, mldpbench.Mechanism, mldpbench:
                with self.assertRaisesRegex(Unseen, "asks mldp"):
                    fingerprint(closure(value))

    def test_same_in_each_process(self) -> None:
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import test_fingerprint as t; print([t.fingerprint(f) for "
                "f in (t.closure({'a', 'b', 'c'}), t.closure(t.TABLE), t.reads_table, t.Model({'x', 'y'}), t.inside, "
                "t.closure(t.Kind), t.closure(lambda t: t in {'a', 'b', 'c'}), t.closure(t.Settings()))])")
        said = {subprocess.run([sys.executable, "-B", "-c", code, str(Path(__file__).parent)], capture_output=True,
                               text=True, check=True, env={**os.environ, "PYTHONHASHSEED": str(seed)}).stdout
                for seed in range(4)}
        self.assertEqual(len(said), 1, f"fingerprints of four processes: {said}")


class TestKeptResults(unittest.TestCase):
    """rank() runs a changed function again, and one that is as it was not."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        study = {"schema": 1, "name": "small", "seed": 1, "repetitions": 1, "epsilons": [5],
                 "datasets": [{"name": "generated-news", "train": 40, "validation": 8, "test": 20}],
                 "embeddings": [{"name": "generated", "dimensions": [20]}], "mechanisms": [{"name": "k-rr"}],
                 "models": [{"name": "svm"}]}
        Path(self.folder, "small.yaml").write_text(json.dumps(study))

    def changed(self, function: Any) -> tuple[float, list[str]]:
        """The share of words that the function changed, in percent, and the warnings."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            mldpbench.rank(mldpbench.mechanism("mine")(function), data=[str(self.folder / "small.yaml")],
                              against=["k-rr"], out=self.folder / "out")
        with open(self.folder / "out" / "results.csv", encoding="utf-8") as lines:
            shares = [float(r["value"]) for r in csv.DictReader(lines)
                      if r["mechanism"] == "mine" and r["quantity"] == "pp"]
        return shares[0], [str(w.message) for w in said if "not kept" in str(w.message)]

    def test_changed_object(self) -> None:
        class Mine:
            def __init__(self, kept: bool) -> None:
                self.kept = kept

            def __call__(self, tokens: list[str], epsilon: float, rng: Any) -> list[str]:
                return tokens if self.kept else ["food"] * len(tokens)
        self.assertEqual(self.changed(Mine(True)), (0, []))
        self.assertEqual(self.changed(Mine(False)), (100, []))
        self.assertEqual(self.changed(functools.partial(Mine(True).__call__)), (0, []))
        finished = sorted(f.stat().st_mtime_ns for f in (self.folder / "out" / "units").rglob("*"))
        self.assertEqual(self.changed(Mine(False)), (100, []))
        self.assertEqual(sorted(f.stat().st_mtime_ns for f in (self.folder / "out" / "units").rglob("*")), finished,
                         "a function that is as it was is not run again")

    def test_what_is_not_seen_is_not_kept(self) -> None:
        kept = [True]
        lock = threading.Lock()

        def mine(tokens: list[str], epsilon: float, rng: Any) -> list[str]:
            with lock:
                return tokens if kept[0] else ["food"] * len(tokens)
        warned = "mine: its results are not kept for another call, as lock in mine, a lock can't be seen"
        self.assertEqual(self.changed(mine), (0, [warned]))
        kept[0] = False
        self.assertEqual(self.changed(mine), (100, [warned]))


if __name__ == "__main__":
    unittest.main()
