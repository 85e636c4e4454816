"""Tests of the package that is installed, or on PYTHONPATH with mldp on the path or in MLDP."""

import contextlib
import doctest
import importlib.util
import io
import json
import math
import subprocess
import tempfile
import unittest
from pathlib import Path

import mldpbench
from mldpbench import MldpError, _roles

ROOT = Path(__file__).parent.parent.parent


class TestMechanism(unittest.TestCase):
    def test_privatise_reads_as_the_program(self):
        texts = ["The food, it said, was SUPERB!", "zzyzx  don't\tawful...", "", "the food was superb"]
        options = ["--mechanism", "k-rr", "--epsilon", "4", "--embedding", "generated", "--seed", "7"]
        for case in "vocabulary", "keep":
            done = subprocess.run([mldpbench.program(), "privatize", *options, "--case", case], capture_output=True,
                                  text=True, input="".join(t + "\n" for t in texts))
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

    def test_errors(self):
        if not importlib.util.find_spec("sklearn"):  # else see make adapters
            with self.assertRaisesRegex(MldpError, "Privatizer: this Python has no scikit-learn"):
                mldpbench.Privatizer
        with self.assertRaisesRegex(MldpError, "nosuch"):
            mldpbench.Mechanism("nosuch", epsilon=5, embedding="generated")
        for epsilon in -1, 0, None, float("inf"), float("nan"), "much":
            with self.assertRaisesRegex(MldpError, f"^epsilon = {epsilon}: must be > 0 and finite$"):
                mldpbench.Mechanism("cmp", epsilon=epsilon, embedding="generated")

    def test_what_is_no_text_ends_nothing(self):
        """A wrong value is an error that names its index; the next text is privatised."""
        with mldpbench.Mechanism("k-rr", 5, "generated") as m:
            for wrong, says in ((["a", math.nan], r"\[1\] is nan"), ([None], r"s\[0\] is None"), ([b"a"], "texts"),
                                ("good hotel", "texts is a str, not a list"), (3, "texts is a int"),
                                ({"text": ["a"]}, "texts is a dict"), (["a", "\ud800"], r"texts\[1\] has half a surr"),
                                (["a", "word " * 2_000_000], r"texts\[1\] has more than")):
                with self.assertRaisesRegex(MldpError, says) as raised:
                    m.privatise(wrong)
                self.assertEqual(raised.exception.code, 2)
                self.assertEqual(isinstance(raised.exception, TypeError), " has " not in says)
            self.assertEqual(len(m.privatise(["food"] * 3 + ["the food " * 400_000] * 4)), 7)  # in several lines


class TestRoles(unittest.TestCase):
    def test_docs(self):
        self.assertEqual(doctest.testmod(_roles).failed, 0)

    def test_a_request_fails_alone(self):
        @mldpbench.measurement("fails")
        def fails(original, private):
            return 1 / 0
        sink, stderr = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(stderr):
            fails.serve(['{"id": 7, "original": ["a"], "private": ["b"]}'], sink)
        line = fails.function.__code__.co_firstlineno + 2
        self.assertIn(f'{{"id": 7, "error": "ZeroDivisionError: division by zero ({__file__}:{line}, in fails)"}}',
                      sink.getvalue())
        self.assertIn("return 1 / 0", stderr.getvalue())


class TestStudies(unittest.TestCase):
    def test_evaluate_and_compare(self):
        texts = [f"the food number {i} was {'superb' if i % 2 else 'awful'}" for i in range(60)]
        rows = mldpbench.evaluate(dict(enumerate(texts)).values(), {"same": tuple(texts)}, ids=range(60), frame=False,
                                  labels=(i % 2 for i in range(60)), seed=1)
        self.assertEqual([r["value"] for r in rows if r["quantity"] == "pp" and r["mechanism"] == "same"], [0.0])
        with self.assertRaisesRegex(MldpError, "is no function with @mechanism before it"):
            mldpbench.compare(len, data=["mini"])
        mini = ROOT / "results" / "reference" / "mini.csv.gz"
        pairs = [r for r in mldpbench.compare(mini, align="em=0.5", frame=False) if r["table"].startswith("pairs")]
        self.assertLess(pairs[0]["difference low"], pairs[0]["difference"])

    def test_wrong_arguments(self):
        for arguments, named, says in (
                ((["a", "b"], ["a"]), {}, "private: 1 for 2 originals"), ((["a", "b"], "ab"), {}, "private is a str"),
                ((["a", None], ["a", "b"]), {}, r"nal\[1\] is None"), ((["a"], ["b"]), {"labels": "a"}, "labels is a"),
                ((["a"], {"x": [math.nan]}), {}, r"\['x'\]\[0\] is nan"), ((["a"], {"x=y": ["b"]}), {}, "called 'x=y"),
                ((["a"], ["b"], ["c"], "--seed=2"), {}, "positional"),
                ((["a"], {"a/b": ["b"]}), {}, '^mldp: [^\n]*name = "a/b": must consist of letters[^\n]*$')):
            with self.assertRaisesRegex((MldpError, TypeError), says):
                mldpbench.evaluate(*arguments, **named)


    def test_files_of_a_dict(self):
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

    def test_no_other_errors(self):
        calls = {"a set": lambda: mldpbench.run({"name": "x", "epsilons": {5}}, out="x"),
                 "a negative seed": lambda: mldpbench.Mechanism("cmp", 1, "generated", seed=-1),
                 "a seed that is a text": lambda: mldpbench.evaluate(["a"], ["a"], seed="one"),
                 "a dict as an option": lambda: mldpbench.evaluate(["a"], ["a"], documents={}),
                 "NUL in an argument": lambda: mldpbench.Mechanism("cmp\0", 1, "generated"),
                 "parameters in a list": lambda: mldpbench.Mechanism("cmp", 1, "generated", parameters=["t"]),
                 "two functions": lambda: mldpbench.compare("a", "b", data=["mini"])}
        for name, call in calls.items():
            with self.subTest(name), self.assertRaises(MldpError):
                call()

    def test_missing_texts(self):
        with mldpbench.Mechanism("k-rr", 5, "generated") as m:
            private = m.privatise(["food", None, math.nan, "room"], missing="keep")
            self.assertEqual((private[1], private[2] != private[2], m.missing, m.words), (None, True, 2, 2))
            for wrong in 3, b"a":
                with self.assertRaisesRegex(MldpError, r"texts\[0\]"):
                    m.privatise([wrong], missing="keep")
            with self.assertRaisesRegex(MldpError, "missing = 'drop'"):
                m.privatise(["a"], missing="drop")


class TestPage(unittest.TestCase):
    def test_examples(self):
        """The examples of docs/python.md print what the page says."""
        page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
        test = doctest.DocTestParser().get_doctest(page.replace("\n```", "\n\n"), {}, "python.md", "docs/python.md", 0)
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            failed = doctest.DocTestRunner().run(test, out=said.write).failed
        self.assertEqual(failed, 0, said.getvalue())

    def test_figure(self):
        """The cells of examples/figure.ipynb, run in order, give README's figure."""
        cells, names = json.loads((ROOT / "examples" / "figure.ipynb").read_text(encoding="utf-8"))["cells"], {}
        code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            exec(code.replace('"../', f'"{ROOT}/'), names)
            svg = names["figures"][0]._repr_svg_()
        shown = (ROOT / "plots" / "reference" / "extended-frontier.svg").read_text(encoding="utf-8")
        self.assertTrue(svg.replace("figure-frontier", "figure-extended-frontier") == shown)


if __name__ == "__main__":
    unittest.main()
