"""Tests of the package that is installed, or on PYTHONPATH with mldp on the path or in MLDP."""

from __future__ import annotations

import array
import ast
import contextlib
import doctest
import importlib.util
import inspect
import io
import json
import math
import os
import pickle
import re
import subprocess
import sys
import tempfile
import types
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable
from unittest import mock

import mldpbench
from mldpbench import MldpError, _roles

ROOT = Path(__file__).parent.parent.parent


class TestMechanism(unittest.TestCase):
    def test_privatise_reads_as_the_program(self) -> None:
        texts = ["The food, it said, was SUPERB!", "zzyzx  don't\tawful...", "", "the food was superb"]
        options = ["--mechanism", "k-rr", "--epsilon", "4", "--embedding", "generated", "--seed", "7"]
        for case in "vocabulary", "keep":
            done = subprocess.run([mldpbench.program(), "privatize", *options, "--case", case], capture_output=True,
                                  check=False, text=True, input="".join(t + "\n" for t in texts))
            with mldpbench.Mechanism("k-rr", 4, "generated", seed=7, case=case) as m:
                private = m.privatise(texts[:1]) + m.privatise(texts[1:])
                self.assertEqual("".join(t + "\n" for t in private), done.stdout, done.stderr)
                kept = m.words - m.changed - m.unknown
                self.assertIn(f"{m.words} words: {m.changed} changed, {kept} unchanged, {m.unknown} unkn", done.stderr)
                self.assertGreater(m.unknown, 0)
                with self.assertWarnsRegex(UserWarning, "50% of the words are not in the vocabulary"):
                    m.privatise(["Food zzyzx!"])
                self.assertEqual(m.privatise(texts, seeds := ["ab" * 32] * 4), m.privatise(texts, seeds))
        self.assertAlmostEqual(sum(m.distribution("food").values()), 1, places=5)  # printed with eight digits

    def test_errors(self) -> None:
        if not importlib.util.find_spec("sklearn"):  # else see make adapters
            with self.assertRaisesRegex(MldpError, "Privatizer: this Python has no scikit-learn"):
                _ = mldpbench.Privatizer
        with self.assertRaisesRegex(MldpError, "nosuch"):
            mldpbench.Mechanism("nosuch", epsilon=5, embedding="generated")
        wrong: tuple[Any, ...] = (-1, 0, None, float("inf"), float("nan"), "much")
        for epsilon in wrong:
            with self.assertRaisesRegex(MldpError, f"^epsilon = {epsilon}: must be > 0 and finite$"):
                mldpbench.Mechanism("cmp", epsilon=epsilon, embedding="generated")

    def test_what_is_no_text_ends_nothing(self) -> None:
        """A wrong value is an error that names its index; the next text is privatised."""
        cases: list[tuple[Any, str]] = [
            (["a", math.nan], r"\[1\] is nan"), ([None], r"s\[0\] is None"), ([b"a"], "texts"),
            ("good hotel", "texts is a str, not a list"), (3, "texts is a int"), ({"text": ["a"]}, "texts is a dict"),
            (["a", "\ud800"], r"texts\[1\] has half a surr"), (["a", "word " * 2_000_000], r"texts\[1\] has more than")]
        with mldpbench.Mechanism("k-rr", 5, "generated") as m:
            for wrong, says in cases:
                with self.assertRaisesRegex(MldpError, says) as raised:
                    m.privatise(wrong)
                self.assertEqual(raised.exception.code, 2)
                self.assertEqual(isinstance(raised.exception, TypeError), " has " not in says)
            self.assertEqual(len(m.privatise(["food"] * 3 + ["the food " * 400_000] * 4)), 7)  # in several lines


class TestRoles(unittest.TestCase):
    def test_docs(self) -> None:
        self.assertEqual(doctest.testmod(_roles).failed, 0)

    def test_a_request_fails_alone(self) -> None:
        @mldpbench.measurement("fails")
        def fails(original: str, private: str) -> float:
            return 1 / 0
        sink, stderr = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(stderr):
            fails.serve(['{"id": 7, "original": ["a"], "private": ["b"]}'], sink)
        line = fails.function.__code__.co_firstlineno + 2
        self.assertIn(f'{{"id": 7, "error": "ZeroDivisionError: division by zero ({__file__}:{line}, in fails)"}}',
                      sink.getvalue())
        self.assertIn("return 1 / 0", stderr.getvalue())

    def test_labels(self) -> None:
        """Labels of libraries are whole numbers: those of numpy, whole floats and bools; others stay what they are."""
        cases: list[tuple[Any, list[Any]]] = [
            ([1, 0], [1, 0]), ((1.0, 0.0), [1, 0]), ([True, False], [1, 0]), (iter([2, 1.0]), [2, 1]),
            ([1.5, "a"], [1.5, "a"]), (array.array("d", [3, 2]), [3, 2]), ([Scalar(1.0), Scalar(7)], [1, 7])]
        if importlib.util.find_spec("numpy"):
            numpy = importlib.import_module("numpy")
            for kind in "int8", "int64", "uint32", "float32", "float64", "bool":
                cases.append((numpy.array([1, 0], kind), [1, 0]))
        for predicted, want in cases:
            answer = answered(mldpbench.attacker("own")(lambda train, test, rng, p=predicted: p),
                              {"seed": "00", "train": [["a", 1]], "test": ["b", "c"]})
            self.assertEqual(json.dumps(answer.get("labels")), json.dumps(want), f"{predicted!r}: {answer}")

    def test_numbers_of_measurements(self) -> None:
        """NaN and infinite numbers are errors of their request, as JSON has none."""
        for value in math.nan, math.inf, -math.inf, Scalar(math.nan):
            answer = answered(mldpbench.measurement("own")(lambda original, private, v=value: v),
                              {"original": ["a"], "private": ["b"]})
            self.assertRegex(answer.get("error", f"no error: {answer}"), "^ValueError: Out of range float values")
        answer = answered(mldpbench.measurement("own")(lambda original, private: Scalar(0.5)),
                          {"original": ["a"], "private": ["b"]})
        self.assertEqual(answer, {"id": 1, "values": [0.5]})


class Scalar:
    """A number as libraries have them."""

    def __init__(self, value: float) -> None:
        self._value = value

    def tolist(self) -> float:
        return self._value


def answered(command: _roles.Command, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of a command to a request."""
    sink = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):
        command.serve([json.dumps({"id": 1, **request})], sink)
    answer: dict[str, Any] = json.loads(sink.getvalue().splitlines()[1])
    return answer


def functions_that_raise() -> set[str]:
    """The names of functions of the package that raise an MldpError, or call one that does."""
    calls: dict[str, set[str]] = {}
    raising = {"Mechanism"}
    for file in Path(mldpbench.__file__).parent.glob("_*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            called = {n.func.id for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
            calls.setdefault(node.name, set()).update(called)
            if {"MldpError", "NoText"} & called:
                raising.add(node.name)
    while found := {name for name, called in calls.items() if called & raising} - raising:
        raising |= found
    return raising


class TestPackage(unittest.TestCase):
    def test_names(self) -> None:
        self.assertLessEqual({*mldpbench.__all__, "__version__"}, {*dir(mldpbench)})
        self.assertRegex(mldpbench.__version__, r"^\d+(\.\w+)+(\+[\w.]+)?$")
        with self.assertRaisesRegex(AttributeError, "has no attribute 'Privatiser'"):
            _ = mldpbench.Privatiser

    def test_docstrings(self) -> None:
        """What is public says each argument, what it returns, and that it raises an MldpError if it does."""
        raising = functions_that_raise()
        with sklearn():
            public = [getattr(mldpbench, name) for name in mldpbench.__all__] + [_roles.Command]
        functions: list[Any] = [f for f in public if inspect.isfunction(f)]
        for kind in (f for f in public if inspect.isclass(f) and f is not MldpError):
            functions += [f for name, f in vars(kind).items() if inspect.isfunction(f) and not name.startswith("_")]
            self.assert_says(kind.__init__, inspect.getdoc(kind) or "", kind.__name__)
        for function in functions:
            said = inspect.getdoc(function) or ""
            self.assert_says(function, said, function.__qualname__)
            if inspect.signature(function).return_annotation != "None":
                self.assertIn("Returns:\n", said, f"{function.__qualname__} does not say what it returns")
            if function.__name__ in raising:
                self.assertIn("Raises:\n", said, f"{function.__qualname__} does not say when it raises an MldpError")

    def assert_says(self, function: Any, said: str, name: str) -> None:
        """A docstring says each argument of a function."""
        if isinstance(function, types.FunctionType):
            for argument in [a for a in inspect.signature(function).parameters if a != "self"]:
                self.assertRegex(said, rf"(?s)Args:\n.*    ([a-z_]+, )*{argument}(, [a-z_]+)*: ",
                                 f"{name} does not say its argument {argument}")

    def test_privatizer(self) -> None:
        """A transformer passes ``missing`` on, and the keywords of its mechanism."""
        with sklearn():
            kept = mldpbench.Privatizer("k-rr", 5, "generated", seed=1, missing="keep", options={"case": "keep"})
            refuses = mldpbench.Privatizer("k-rr", 5, "generated")
            without = mldpbench.Privatizer("k-rr", 5)
        texts = ["Superb food", None, "the room"]
        private = kept.fit(texts).transform(texts)
        with mldpbench.Mechanism("k-rr", 5, "generated", seed=1, case="keep") as m:
            self.assertEqual(private, m.privatise(texts, missing="keep"))
        self.assertIsNone(private[1])
        with self.assertRaisesRegex(MldpError, r"texts\[1\] is None, not a text"):
            refuses.transform(texts)
        with self.assertRaisesRegex(MldpError, "^embedding is missing: name a vector file, or .* mldp data fetch glove"):
            without.transform(["food"])


def found(mechanism: str, target: str, *options: str) -> float:
    """The epsilon that ``mldp calibrate`` finds."""
    command = [mldpbench.program(), "calibrate", "--mechanism", mechanism, "--target", target,
               "--embedding", "generated", "--json", *options]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return float(json.loads(done.stdout)["tables"]["mechanisms"][0]["epsilon"])


@contextlib.contextmanager
def sklearn() -> Iterator[None]:
    """Scikit-learn, or what stands for the two classes that are used of it."""
    if importlib.util.find_spec("sklearn"):
        yield
        return
    base: Any = types.ModuleType("sklearn.base")
    base.BaseEstimator = type("BaseEstimator", (), {})
    base.TransformerMixin = type("TransformerMixin", (), {})
    with mock.patch.dict(sys.modules, {"sklearn": types.ModuleType("sklearn"), "sklearn.base": base}):
        yield


class TestStudies(unittest.TestCase):
    def test_evaluate_and_compare(self) -> None:
        texts = [f"the food number {i} was {'superb' if i % 2 else 'awful'}" for i in range(60)]
        rows = mldpbench.evaluate(dict(enumerate(texts)).values(), {"same": tuple(texts)}, ids=range(60),
                                  labels=(i % 2 for i in range(60)), seed=1)
        self.assertEqual([r["value"] for r in rows if r["quantity"] == "pp" and r["mechanism"] == "same"], [0.0])
        with self.assertRaisesRegex(MldpError, "is no function with @mechanism before it"):
            mldpbench.rank(len, data=["mini"])  # type: ignore[arg-type]
        mini = ROOT / "results" / "reference" / "mini.csv.gz"
        pairs = [r for r in mldpbench.compare(mini, align="em=0.5") if r["table"].startswith("pairs")]
        self.assertLess(pairs[0]["difference low"], pairs[0]["difference"])
        changes = mldpbench.compare(mini, mini)
        self.assertEqual({r["table"] for r in changes} - {"changes", "tests", "outcome"}, set(), changes[:1])

    def test_frames(self) -> None:
        """Rows are a list of dicts, and a DataFrame on request; without pandas that says so."""
        rows = mldpbench.Rows([{"mechanism": "cmp", "value": None}])
        self.assertEqual(rows, [{"mechanism": "cmp", "value": None}])
        if importlib.util.find_spec("pandas"):
            frame = rows.to_frame()
            self.assertEqual((list(frame.columns), len(frame)), (["mechanism", "value"], 1))
        without = mock.patch.dict(sys.modules, {"pandas": None})
        with without, self.assertRaisesRegex(MldpError, "^to_frame: this Python has no pandas"):
            rows.to_frame()

    def test_key(self) -> None:
        """By key and id a text is the same in another process, whatever else is asked; without ids there is none."""
        texts = ["the food was superb"] * 3
        with tempfile.TemporaryDirectory() as folder:
            key = Path(folder, "test.key")
            key.write_bytes(b"a secret of some bytes")
            with mldpbench.Mechanism("k-rr", 2, "generated", key=key, release="march") as m:
                first = m.privatise(texts, ids=["a", 2, "c"], column="body")
                self.assertAlmostEqual(sum(m.distribution("food").values()), 1)
                for ids, said in ((None, "needs one for each text"), (["a"], "1 ids for 3 texts"),
                                  (["a", "b", "a"], "is that of an earlier text"), (["a", "", "b"], "not empty"),
                                  (["a", 1.5, "b"], "whole number")):
                    with self.assertRaises(MldpError) as caught:
                        m.privatise(texts, ids=ids)
                    self.assertIn(said, str(caught.exception))
            private = mldpbench.mapper(mechanism="k-rr", epsilon=2, embedding="generated", key=key, release="march",
                                       text="body", id="id")
            again = pickle.loads(pickle.dumps(private))({"id": ["c", 2, "a"], "body": texts})
            self.assertEqual(again["body"], first[::-1])
            self.assertGreater(len(set(first)), 1)
            with self.assertRaises(MldpError):
                mldpbench.Mechanism("k-rr", 2, "generated", key=key, seed=1)

    def test_compare_of_a_function(self) -> None:
        @mldpbench.mechanism("same")
        def same(tokens: list[str], epsilon: float, rng: Any) -> list[str]:
            return tokens

        for function in (same, lambda tokens: tokens):
            with self.assertRaises(MldpError) as caught:
                mldpbench.compare(function)  # type: ignore[arg-type]
            self.assertIn("rank(function", str(caught.exception))

    def test_rank(self) -> None:
        """A row for each level, data set and mechanism, whatever the tables of mldp run are."""
        @mldpbench.mechanism("swap")
        def swap(tokens: list[str], epsilon: float, rng: Any, words: list[str]) -> list[str]:
            stays = 1 - len(words) / (len(words) - 1 + math.exp(epsilon))
            return [t if rng.random() < stays else rng.choice(words) for t in tokens]
        study = {"schema": 1, "name": "two", "seed": 1, "repetitions": 1, "epsilons": [5],
                 "datasets": [{"name": n, "train": 40, "validation": 8, "test": 20}
                              for n in ("generated-news", "generated-reviews")],
                 "embeddings": [{"name": "generated", "dimensions": [20]}], "mechanisms": [{"name": "k-rr"}],
                 "models": [{"name": "svm"}]}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            Path("two.yaml").write_text(json.dumps(study))
            ranking = mldpbench.rank(swap, "two.yaml", ["k-rr"], em=[0.5, 0.7], out="out")
            places = {(r["level"], r["dataset"], r["mechanism"]) for r in ranking if r["dataset"] != "all"}
            wanted = {(level, dataset, name) for level in (0.5, 0.7) for name in ("swap", "k-RR", "not privatised")
                      for dataset in ("News (generated)", "Reviews (generated)")}
            self.assertEqual(places, wanted)
            for row in ranking:
                self.assertEqual(row["guaranteed"], row["mechanism"] != "swap", row)
                if row["dataset"] == "all":
                    self.assertIsNone(row["accuracy"], row)
                elif row["mechanism"] == "not privatised":
                    self.assertIsNone(row["epsilon"], row)
                else:
                    self.assertTrue(row["low"] <= row["accuracy"] <= row["high"] and row["epsilon"] > 0, row)
            self.assertEqual(ranking.to_latex().count(r"\begin{table}"), len({r["table"] for r in ranking}))
            self.assertEqual(ranking.figure().path.suffix, ".svg")

    def test_wrong_arguments(self) -> None:
        cases: list[tuple[Any, dict[str, Any], str]] = [
                ((["a", "b"], ["a"]), {}, "private: 1 for 2 originals"), ((["a", "b"], "ab"), {}, "private is a str"),
                ((["a", None], ["a", "b"]), {}, r"nal\[1\] is None"), ((["a"], ["b"]), {"labels": "a"}, "labels is a"),
                ((["a"], {"x": [math.nan]}), {}, r"\['x'\]\[0\] is nan"), ((["a"], {"x=y": ["b"]}), {}, "called 'x=y"),
                ((["a"], ["b"], ["c"], "--seed=2"), {}, "positional"),
                ((["a"], {"a/b": ["b"]}), {}, '^mldp: [^\n]*name = "a/b": must consist of letters[^\n]*$')]
        for arguments, named, says in cases:
            with self.assertRaisesRegex((MldpError, TypeError), says):
                mldpbench.evaluate(*arguments, **named)


    def test_files_of_a_dict(self) -> None:
        """A dict given to run names files of the working directory, wherever its results go."""
        study = {"schema": 1, "name": "own", "seed": 1, "repetitions": 1, "epsilons": [5], "models": [{"name": "svm"}],
                 "datasets": [{"name": "texts", "file": "texts.csv", "text": "body", "label": "stars"}],
                 "embeddings": [{"name": "own", "file": "vectors.txt"}], "mechanisms": [{"name": "k-rr"}]}
        words = ["superb", "awful", "food", "room", "fine", "bad"]
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            Path("vectors.txt").write_text("".join(f"{w} {i} {i * i % 7}\n" for i, w in enumerate(words)))
            Path("texts.csv").write_text("body,stars\n" + "".join(
                f"the {words[2 + i % 4]} was {words[i % 2]} {words[i % 3]} {words[i % 5]},{i % 2}\n" for i in range(90)))
            for out in "results", "results/deeper", str(Path(folder, "elsewhere")):
                rows = mldpbench.run(study, out=out)
                self.assertIn("k-rr", {r["mechanism"] for r in rows}, out)

    def test_no_other_errors(self) -> None:
        wrong: Any = {"text": "one", "dict": {}, "list": ["t"], "words": [3, "the"]}
        calls: dict[str, Callable[[], object]] = {
            "a set": lambda: mldpbench.run({"name": "x", "epsilons": {5}}, out="x"),
            "a negative seed": lambda: mldpbench.Mechanism("cmp", 1, "generated", seed=-1),
            "a seed that is a text": lambda: mldpbench.evaluate(["a"], ["a"], seed=wrong["text"]),
            "a dict as an option": lambda: mldpbench.evaluate(["a"], ["a"], documents=wrong["dict"]),
            "NUL in an argument": lambda: mldpbench.Mechanism("cmp\0", 1, "generated"),
            "parameters in a list": lambda: mldpbench.Mechanism("cmp", 1, "generated", parameters=wrong["list"]),
            "vectors that are not there": lambda: mldpbench.Mechanism("cmp", 1, "nowhere.txt"),
            "no vectors": lambda: mldpbench.Mechanism("cmp", 1),
            "no epsilon": lambda: mldpbench.Mechanism("cmp", embedding="generated"),
            "epsilon and target": lambda: mldpbench.Mechanism("cmp", 1, "generated", target="em=0.5"),
            "a target that is none": lambda: mldpbench.Mechanism("cmp", embedding="generated", target="em=5"),
            "two targets": lambda: mldpbench.Mechanism("k-rr", embedding="generated", target="em=0.2,0.5"),
            "a sample without a target": lambda: mldpbench.Mechanism("cmp", 1, "generated", sample=["food"]),
            "words that are no texts": lambda: mldpbench.Mechanism("cmp", 1, "generated", keep_words=wrong["words"]),
            "a layout that is none": lambda: mldpbench.Mechanism("cmp", 1, "generated", layout="wide")}
        for name, call in calls.items():
            with self.subTest(name), self.assertRaises(MldpError):
                call()

    def test_target(self) -> None:
        """The epsilon is that of ``mldp calibrate``, of the vocabulary or of texts; copies have it."""
        of_words = found("k-rr", "em=0.5")
        with mldpbench.Mechanism("k-rr", embedding="generated", target="em=0.5") as m:
            self.assertEqual(m.epsilon, of_words)
            self.assertEqual(pickle.loads(pickle.dumps(m)).epsilon, of_words)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "texts.txt").write_text("superb food\nawful, room\nsuperb food\n")
            of_texts = found("k-rr", "em=0.5", "--text", f"{folder}/texts.txt")
        with mldpbench.Mechanism("k-rr", embedding="generated", target="em=0.5",
                                 sample=["superb food", "awful, room", "superb food"]) as m:
            self.assertEqual(m.epsilon, of_texts)
        self.assertNotEqual(of_words, of_texts)

    def test_kept_words_and_layout(self) -> None:
        text = "The  FOOD, the room!"
        for keep in ["the"], "the", ("room", "the"):
            with mldpbench.Mechanism("uniform", 1, "generated", keep_words=keep, seed=1) as m:
                self.assertRegex(m.privatise([text])[0], r"^the  \w+, the \w+!$", f"keep_words={keep!r}")
        with mldpbench.Mechanism("k-rr", 300, "generated", layout="fixed=3") as m:
            self.assertEqual(len(m.privatise([text])[0].split()), 3)

    def test_vectors_of_a_function(self) -> None:
        """A function that takes words or vectors gets those of a file, or an error that says how to name one."""
        @mldpbench.mechanism("first")
        def first(tokens: list[str], epsilon: float, rng: Any, words: list[str], vectors: Any) -> list[str]:
            return [f"{words[0]}:{list(vectors[0])}" for _ in tokens]
        request = ['{"id": 1, "epsilon": 5, "seeds": ["00"], "documents": [["a"]]}']
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "vectors.txt")
            file.write_text("superb 1 0.5\nawful 0 1\n")
            sink = io.StringIO()
            first.serve(request, sink, str(file))
            self.assertEqual(json.loads(sink.getvalue().splitlines()[1])["documents"], [["superb:[1.0, 0.5]"]])
        unread = "^first: .*: no vectors can be read"
        for argv, says in ((["krr.py"], '^first takes words and vectors: end its command with "{vectors}"'),
                           (["krr.py", "nowhere.txt"], unread), (["krr.py", __file__], unread)):
            with mock.patch.object(sys, "argv", argv), self.assertRaisesRegex(MldpError, says):
                first.serve(request, io.StringIO())

    def test_missing_texts(self) -> None:
        with mldpbench.Mechanism("k-rr", 5, "generated") as m:
            private = m.privatise(["food", None, math.nan, "room"], missing="keep")
            self.assertEqual((private[1], private[2] != private[2], m.missing, m.words), (None, True, 2, 2))
            for wrong in 3, b"a":
                with self.assertRaisesRegex(MldpError, r"texts\[0\]"):
                    m.privatise([wrong], missing="keep")
            with self.assertRaisesRegex(MldpError, "missing = 'drop'"):
                m.privatise(["a"], missing="drop")


class TestPage(unittest.TestCase):
    def test_examples(self) -> None:
        """The examples of docs/python.md print what the page says."""
        page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
        test = doctest.DocTestParser().get_doctest(page.replace("\n```", "\n\n"), {}, "python.md", "docs/python.md", 0)
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            failed = doctest.DocTestRunner().run(test, out=said.write).failed
        self.assertEqual(failed, 0, said.getvalue())

    @unittest.skipUnless(os.environ.get("MLDP_LONG"), "README's task takes a minute: MLDP_LONG is not set")
    def test_readme(self) -> None:
        """README's Python runs word for word, where its data are."""
        page = (ROOT / "README.md").read_text(encoding="utf-8")
        blocks = re.findall(r"(?s)```python\n(.*?)```", page)
        self.assertEqual(len(blocks), 1, "README has one block of Python")
        data = Path(os.environ.get("MLDP_DATA", ROOT.parent / "shared" / "data"))
        if not (data / "ag_news_test.csv.gz").exists():
            self.skipTest(f"no AG News in {data}: set MLDP_DATA")
        said = io.StringIO()
        with (tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(said),
              mock.patch.dict(os.environ, MLDP_DATA=str(data))):
            exec(blocks[0], {"__name__": "readme"})  # noqa: S102 (this repository's own)
        self.assertRegex(said.getvalue(), r"(?s)\\begin\{tabular\}.*CMP .*krr.*\\end\{tabular\}")

    def test_figure(self) -> None:
        """The cells of examples/figure.ipynb, run in order, give README's figure."""
        cells = json.loads((ROOT / "examples" / "figure.ipynb").read_text(encoding="utf-8"))["cells"]
        names: dict[str, Any] = {}
        code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            exec(code.replace('"../', f'"{ROOT}/'), names)  # noqa: S102 (this repository's own)
            svg = names["figures"][0]._repr_svg_()
        shown = (ROOT / "plots" / "reference" / "extended-frontier.svg").read_text(encoding="utf-8")
        self.assertTrue(svg.replace("figure-frontier", "figure-extended-frontier") == shown)


if __name__ == "__main__":
    unittest.main()
