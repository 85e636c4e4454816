"""Tests of the package that is installed, or on PYTHONPATH with mldp on the path or in MLDP."""

from __future__ import annotations

import array
import contextlib
import doctest
import importlib.util
import inspect
import io
import json
import math
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


class TestPackage(unittest.TestCase):
    def test_names(self) -> None:
        self.assertLessEqual({*mldpbench.__all__, "__version__"}, {*dir(mldpbench)})
        self.assertRegex(mldpbench.__version__, r"^\d+(\.\w+)+(\+[\w.]+)?$")
        with self.assertRaisesRegex(AttributeError, "has no attribute 'Privatiser'"):
            _ = mldpbench.Privatiser

    def test_docstrings(self) -> None:
        """What is public says each argument, and what it returns."""
        public = [getattr(mldpbench, name) for name in mldpbench.__all__ if name != "Privatizer"]
        functions: list[Any] = [f for f in public if inspect.isfunction(f)]
        functions += [mldpbench.Mechanism.privatise, mldpbench.Mechanism.distribution]
        for function in functions:
            said = inspect.getdoc(function) or ""
            self.assertIn("Returns:\n", said, function.__name__)
            for name in inspect.signature(function).parameters:
                if name != "self":
                    self.assertRegex(said, rf"\n    {name}: ", f"{function.__name__} does not say its argument {name}")

    def test_privatizer(self) -> None:
        """A transformer passes ``missing`` on, and the keywords of its mechanism."""
        with sklearn():
            kept = mldpbench.Privatizer("k-rr", 5, seed=1, missing="keep", options={"case": "keep"})
            refuses = mldpbench.Privatizer("k-rr", 5)
        texts = ["Superb food", None, "the room"]
        private = kept.fit(texts).transform(texts)
        with mldpbench.Mechanism("k-rr", 5, "generated", seed=1, case="keep") as m:
            self.assertEqual(private, m.privatise(texts, missing="keep"))
        self.assertIsNone(private[1])
        with self.assertRaisesRegex(MldpError, r"texts\[1\] is None, not a text"):
            refuses.transform(texts)


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
        rows = mldpbench.evaluate(dict(enumerate(texts)).values(), {"same": tuple(texts)}, ids=range(60), frame=False,
                                  labels=(i % 2 for i in range(60)), seed=1)
        self.assertEqual([r["value"] for r in rows if r["quantity"] == "pp" and r["mechanism"] == "same"], [0.0])
        with self.assertRaisesRegex(MldpError, "is no function with @mechanism before it"):
            mldpbench.compare(len, data=["mini"])  # type: ignore[arg-type]
        mini = ROOT / "results" / "reference" / "mini.csv.gz"
        pairs = [r for r in mldpbench.compare(mini, align="em=0.5", frame=False) if r["table"].startswith("pairs")]
        self.assertLess(pairs[0]["difference low"], pairs[0]["difference"])

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
                rows = mldpbench.run(study, out=out, frame=False)
                self.assertIn("k-rr", {r["mechanism"] for r in rows}, out)

    def test_no_other_errors(self) -> None:
        wrong: Any = {"text": "one", "dict": {}, "list": ["t"]}
        calls: dict[str, Callable[[], object]] = {
            "a set": lambda: mldpbench.run({"name": "x", "epsilons": {5}}, out="x"),
            "a negative seed": lambda: mldpbench.Mechanism("cmp", 1, "generated", seed=-1),
            "a seed that is a text": lambda: mldpbench.evaluate(["a"], ["a"], seed=wrong["text"]),
            "a dict as an option": lambda: mldpbench.evaluate(["a"], ["a"], documents=wrong["dict"]),
            "NUL in an argument": lambda: mldpbench.Mechanism("cmp\0", 1, "generated"),
            "parameters in a list": lambda: mldpbench.Mechanism("cmp", 1, "generated", parameters=wrong["list"]),
            "two functions": lambda: mldpbench.compare("a", "b", data=["mini"])}
        for name, call in calls.items():
            with self.subTest(name), self.assertRaises(MldpError):
                call()

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
