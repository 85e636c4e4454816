"""Tests of the package that is installed, or on PYTHONPATH with mldp on the path or in MLDP."""

import contextlib
import doctest
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import mldpbench
from mldpbench import MldpError, _roles

HERE = Path(__file__).parent


class TestMechanism(unittest.TestCase):
    def test_privatise(self):
        with mldpbench.Mechanism("k-rr", epsilon=5, embedding="generated") as m:
            self.assertEqual(m.guarantee["metric"], "discrete")
            seeds = ["ab" * 32, "cd" * 32]
            texts = ["the food was superb", "awful"]
            private = m.privatise(texts, seeds)
            self.assertEqual(private, m.privatise(texts, seeds))
            p = m.distribution("food")
            self.assertAlmostEqual(sum(p.values()), 1, places=5)  # printed with eight digits
            self.assertEqual(max(p, key=p.get), "food")

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
                self.assertIn(f"{m.words} words: {m.changed} changed, {kept} unchanged, {m.unknown} unknown", done.stderr)
                self.assertGreater(m.unknown, 0)
                with self.assertWarnsRegex(UserWarning, "50% of the words are not in the vocabulary"):
                    m.privatise(["Food zzyzx!"])

    def test_every_text_is_rewritten(self):
        """As many texts come back, and of none a word, number or sign of its own."""
        texts = [f"Secret{i}, \u00bd \u2461 x\u00b2 zqxprivate\nzqxend" if i % 7 else " \u2026" for i in range(100)]
        with mldpbench.Mechanism("k-rr", epsilon=1, embedding="generated") as m, \
                self.assertWarns(UserWarning):
            private = m.privatise(texts)
        self.assertEqual(len(private), len(texts))
        self.assertEqual([p for p in private if any(s in p.lower() for s in ("secret", "zqx", "\u00bd", "\u2461"))], [])

    def test_errors(self):
        with self.assertRaisesRegex(MldpError, "nosuch"):
            mldpbench.Mechanism("nosuch", epsilon=5, embedding="generated")
        for epsilon in -1, 0, None, float("inf"), float("nan"), "much":
            with self.assertRaisesRegex(MldpError, f"^epsilon = {epsilon}: must be > 0 and finite$"):
                mldpbench.Mechanism("cmp", epsilon=epsilon, embedding="generated")

    def test_what_is_no_text_ends_nothing(self):
        """A wrong value is an error that names its index; the next text is privatised."""
        with mldpbench.Mechanism("k-rr", 5, "generated") as m:
            for wrong, says in ((["a", float("nan")], r"texts\[1\] is nan"), ([None], r"texts\[0\] is None"), ([b"a"], "texts"),
                                ("good hotel", "texts is a str, not a list"), (3, "texts is a int")):
                with self.assertRaisesRegex(TypeError, says):
                    m.privatise(wrong)
            with self.assertRaisesRegex(MldpError, r"texts\[1\] has half a surrogate pair"):
                m.privatise(["a", "\ud800"])
            with self.assertRaisesRegex(MldpError, r"texts\[1\] has more than"):
                m.privatise(["a", "word " * 2_000_000])
            self.assertEqual(len(m.privatise(["food"] * 3 + ["the food " * 400_000] * 4)), 7)  # in several lines
        m._process.kill()
        m.close()  # of a program that has ended


class TestRoles(unittest.TestCase):
    def test_docs(self):
        self.assertEqual(doctest.testmod(_roles).failed, 0)

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "shout.py"
            script.write_text("from mldpbench import mechanism\n"
                              "mechanism('shout')(lambda tokens, epsilon, rng: [t.upper() for t in tokens]).serve()\n")
            out = subprocess.run([mldpbench.program(), "privatize", "--command", f"{sys.executable} {script}",
                                  "--epsilon", "1"], input="the food\n", capture_output=True, text=True)
        self.assertEqual((out.returncode, out.stdout), (0, "THE FOOD\n"), out.stderr)

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
        rows = mldpbench.evaluate(dict(enumerate(texts)).values(), {"same": tuple(texts)}, labels=(i % 2 for i in range(60)),
                                  ids=range(60), frame=False, seed=1)
        self.assertEqual([r["value"] for r in rows if r["quantity"] == "pp" and r["mechanism"] == "same"], [0.0])
        self.assertEqual([r for r in rows if r["quantity"] == "words_per_second"], [])  # no time was measured
        with self.assertRaisesRegex(MldpError, '^mldp: [^\n]*name = "a/b": must consist of letters[^\n]*$'):
            mldpbench.evaluate(texts, {"a/b": texts})
        mini = HERE.parent.parent / "results" / "reference" / "mini.csv.gz"
        pairs = [r for r in mldpbench.compare(mini, align="em=0.5", frame=False) if r["table"].startswith("pairs")]
        self.assertLess(pairs[0]["difference low"], pairs[0]["difference"])

    def test_pandas_and_pipeline(self):
        """Where they are: a DataFrame, and a step that pipelines copy and set."""
        try:
            import pandas
            from sklearn.pipeline import make_pipeline
            from sklearn.base import clone
        except ImportError as missing:
            with self.assertRaisesRegex(MldpError, "Privatizer: this Python has no scikit-learn"):
                mldpbench.Privatizer
            self.skipTest(str(missing))
        column = pandas.Series(["superb food", "awful food"] * 20, index=range(5, 45))
        pipeline = make_pipeline(mldpbench.Privatizer(mechanism="k-rr", epsilon=.1, seed=1))
        private = clone(pipeline).set_params(privatizer__seed=2).fit_transform(column)
        with mldpbench.Mechanism("k-rr", .1, "generated", seed=2) as m:
            self.assertEqual(private, m.privatise(column))
        self.assertIsInstance(mldpbench.evaluate(column, pandas.Series(private), ids=column.index), pandas.DataFrame)

    def test_wrong_arguments(self):
        for arguments, named, says in (
                ((["a", "b"], ["a"]), {}, "private: 1 for 2 originals"), ((["a", "b"], "ab"), {}, "private is a str"),
                ((["a", None], ["a", "b"]), {}, r"original\[1\] is None"), ((["a"], ["b"]), {"labels": "a"}, "labels is a str"),
                ((["a"], {"x": [float("nan")]}), {}, r"private\['x'\]\[0\] is nan"), ((["a"], {"x=y": ["b"]}), {}, "called 'x=y'"),
                ((["a"], ["b"], ["c"], "--seed=2"), {}, "positional")):
            with self.assertRaisesRegex((MldpError, TypeError), says):
                mldpbench.evaluate(*arguments, **named)


class TestPage(unittest.TestCase):
    def test_examples(self):
        """The examples of docs/python.md print what the page says."""
        page = (HERE.parent.parent / "docs" / "python.md").read_text(encoding="utf-8")
        test = doctest.DocTestParser().get_doctest(page.replace("\n```", "\n\n"), {}, "python.md", "docs/python.md", 0)
        self.assertGreater(len(test.examples), 15)
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            failed = doctest.DocTestRunner().run(test, out=said.write).failed
        self.assertEqual(failed, 0, said.getvalue())


class TestNotebook(unittest.TestCase):
    def test_figure(self):
        """The cells of examples/figure.ipynb, run in order, give README's figure."""
        root = HERE.parent.parent
        cells = json.loads((root / "examples" / "figure.ipynb").read_text(encoding="utf-8"))["cells"]
        code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
        self.assertLessEqual(sum(len(c.splitlines()) for c in code), 12)
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/examples")
            os.symlink(root / "results", f"{folder}/results")
            names = {}
            with contextlib.chdir(f"{folder}/examples"):
                for c in code:
                    exec(c, names)
                svg = names["figures"][0]._repr_svg_()
        shown = (root / "plots" / "reference" / "extended-frontier.svg").read_text(encoding="utf-8")
        self.assertEqual(len(names["figures"]), 1)
        self.assertTrue(svg.replace("figure-frontier", "figure-extended-frontier") == shown)


if __name__ == "__main__":
    unittest.main()
