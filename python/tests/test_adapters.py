"""Tests of examples/adapters against hand-made exchanges.

None of the libraries is needed or was ever run with its adapter: the modules
below have the names and signatures of their documentation, and nothing of what
they do. mldp must be on the path or in MLDP.
"""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ADAPTERS = ROOT / "examples" / "adapters"
sys.path.insert(0, str(ROOT / "python"))

from mldpbench import program  # noqa: E402

FAKES = {
    "numpy/__init__.py": """
        import random as _random
        class random:
            source = _random.Random(0)
            @classmethod
            def seed(cls, numbers):
                assert len(numbers) == 8 and all(0 <= n < 2**32 for n in numbers)
                cls.source.seed(repr(numbers))
        """,
    "pandas.py": "class DataFrame(dict): pass",
    "gensim/models.py": """
        class KeyedVectors:
            @classmethod
            def load_word2vec_format(cls, fname, fvocab=None, binary=False, encoding="utf8", no_header=False):
                assert no_header and not binary
                kv = cls()
                lines = [line.split() for line in open(fname, encoding="utf-8")]
                kv.key_to_index = {line[0]: i for i, line in enumerate(lines)}
                kv.vector_size = len(lines[0]) - 1
                return kv
        """,
    "mldp_text.py": """
        import numpy
        class Mechanism:
            def __init__(self, epsilon, embedding_matrix=None, dim=300, use_faiss=True, vocab=(), embed=None,
                         return_noise=False):
                print("Success: loading embeddings")  # as the library does
                assert epsilon > 0 and dim == embedding_matrix.vector_size and not use_faiss
                self.words, self.epsilon = sorted(vocab), epsilon
            def replace_word(self, word):
                if word not in self.words or self.epsilon >= 100:
                    return word
                return numpy.random.source.choice(self.words)
        def get_mechanism(name, **kwargs):
            return {"tem": Mechanism, "vickrey": Mechanism}[name](**kwargs)
        """,
    "pypantera/src/EmbeddingPerturbationMechanism/cmp.py": """
        import numpy, pandas
        class CMP:
            def __init__(self, kwargs):
                self.epsilon = kwargs["epsilon"]
                self.words = [line.split()[0] for line in open(kwargs["embPath"], encoding="utf-8")]
            def word(self, word):
                return word if self.epsilon >= 100 else numpy.random.source.choice(self.words)
            def obfuscateText(self, data, numberOfTimes):
                assert list(data) == ["id", "text"] and isinstance(data, pandas.DataFrame)
                texts = [t.lower().split() for t in data["text"]]
                return {**data, "obfuscatedText": [[" ".join(map(self.word, t))] * numberOfTimes for t in texts]}
        """,
    "pypantera/src/EmbeddingPerturbationMechanism/vickrey.py": """
        from .cmp import CMP
        class VickreyMhl(CMP):
            def __init__(self, kwargs):
                super().__init__(kwargs)
                assert (kwargs["lam"], kwargs["t"]) == (0.5, 0.75)
        """,
    "dpmlm/__init__.py": """
        class DPMLM:
            def __init__(self, MODEL="FacebookAI/roberta-base", calibration=None):
                self.answers = MODEL == "two-counts"
                assert (calibration is None) == (MODEL == "FacebookAI/roberta-base")
                assert calibration is None or calibration["clip_min"] < calibration["clip_max"]
            def dpmlm_rewrite(self, sentence, epsilon):
                text = sentence.replace("superb", "quite good")
                return (text, 1, 4) if self.answers else text
        """,
    "dpmlm/utils.py": """
        def calculate_logit_bounds(model_name, batch_size=16, percentile=0.01, device=None, bound_strategy=None):
            low, high = bound_strategy(0.5, 2.0, -3.0, 9.0) if bound_strategy else (9.0, 9.0)  # as the library does
            return {"clip_min": low, "clip_max": high, "sensitivity": high - low}
        """,
    "diffractor.py": """
        from dataclasses import dataclass
        @dataclass
        class DiffractorConfig:
            method: str = "geometric"
            epsilon: float = 1.0
            verbose: bool = True
            seed: int = 42
        class Diffractor:
            def __init__(self, config=None, model_names=None):
                assert config.method in ("geometric", "TEM") and not config.verbose and 0 <= config.seed < 2**32
                self.names = model_names
            def rewrite(self, texts):
                return [t.replace("superb", "good" if self.names is None else "/".join(self.names)) for t in texts]
        """,
    "dpst.py": """
        class DPST:
            def __init__(self, mode, hf_token=None, model_checkpoint="x"):
                print("Initializing DPST Runtime...")  # as the library does
                assert mode in ("50k", "100k", "200k") and model_checkpoint == "model"
            def privatize(self, texts, epsilon=10):
                return [t + f" {epsilon:g}" for t in texts]
            def cleanup(self):
                import sys
                print("cleaned up", file=sys.stderr)
        """,
    "presidio_analyzer.py": """
        class Found: pass
        class AnalyzerEngine:
            def analyze(self, text, language, entities=None):
                assert language == "en"
                found = Found()
                found.start, found.end, found.entity_type = text.index("Don"), text.index("Don") + 3, "PERSON"
                return [found] if entities is None or "PERSON" in entities else []
        """,
    "presidio_anonymizer.py": """
        class Result: pass
        class AnonymizerEngine:
            def anonymize(self, text, analyzer_results, operators=None):
                result = Result()
                for f in analyzer_results:
                    text = text[:f.start] + f"<{f.entity_type}>" + text[f.end:]
                result.text = text
                return result
        """,
    "sklearn/feature_extraction/text.py": """
        class TfidfVectorizer:
            def __init__(self, token_pattern):
                assert token_pattern == r"\\S+"
            def fit_transform(self, texts):
                return [set(t.split()) for t in texts]
            transform = fit_transform
        """,
    "sklearn/linear_model.py": """
        class LogisticRegression:
            def __init__(self, max_iter, random_state):
                assert max_iter > 0 and 0 <= random_state < 2**32
            def fit(self, x, y):
                self.known = list(zip(x, y))
            def predict(self, x):
                return [max(self.known, key=lambda k: len(k[0] & words))[1] for words in x]
        """,
}
SEEDS = ["6b" * 32, "00" * 32]


class TestAdapters(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        for name, text in FAKES.items():
            path = self.folder / "fakes" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        self.vectors = self.folder / "vectors.txt"
        self.vectors.write_text("".join(f"word{i} {i} 0.5\n" for i in range(50)) + "food 1 2\n", encoding="utf-8")
        path = os.pathsep.join([str(self.folder / "fakes"), str(ROOT / "python")])
        self.environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def ask(self, script, arguments, *requests):
        """The hello and the answers of a command, every line of its output read as JSON."""
        lines = "".join(json.dumps({"id": i + 1, **r}) + "\n" for i, r in enumerate(requests))
        done = subprocess.run([sys.executable, str(script), *map(str, arguments)], input=lines, capture_output=True,
                              text=True, encoding="utf-8", env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        hello, *answers = map(json.loads, done.stdout.splitlines())
        self.assertEqual([a["id"] for a in answers], list(range(1, len(requests) + 1)))
        return hello, answers

    def words(self, name, *arguments):
        documents = [["the", "food"], ["food", "food", "word1", "word2"]]
        requests = [{"epsilon": e, "seeds": SEEDS, "documents": documents} for e in (100, 5, 5)]
        requests.append({"epsilon": 5, "seeds": SEEDS[1:], "documents": documents[1:]})
        hello, answers = self.ask(ADAPTERS / name, arguments, *requests)
        same, first, again, alone = [a["documents"] for a in answers]
        self.assertTrue(hello["repeatable"])
        self.assertEqual(same, documents)
        self.assertNotEqual(first, documents)
        self.assertEqual(first, again)
        self.assertEqual(alone, first[1:])  # from its own seed, whatever comes before
        self.assertEqual([len(d) for d in first], [2, 4])
        return hello

    def text(self, name, arguments, text, want, epsilon=5):
        hello, answers = self.ask(ADAPTERS / name, arguments, {"epsilon": epsilon, "seeds": SEEDS[:1], "texts": [text]})
        self.assertEqual(answers, [{"id": 1, "texts": [want]}])
        self.assertEqual((hello["input"], hello["aligned"]), ("text", False))
        self.assertNotIn("metric", hello["guarantee"])
        return hello

    def test_mldp_text(self):
        self.assertEqual(self.words("mldp_text_adapter.py", "tem", self.vectors)["guarantee"]["metric"], "euclidean")
        self.assertNotIn("metric", self.words("mldp_text_adapter.py", "vickrey", self.vectors)["guarantee"])

    def test_pypantera(self):
        self.assertEqual(self.words("pypantera_adapter.py", "cmp", self.vectors)["guarantee"]["metric"], "euclidean")
        hello = self.words("pypantera_adapter.py", "vickrey-mhl", self.vectors, "lam=0.5")
        self.assertEqual(hello["parameters"], {"lam": 0.5, "t": 0.75})

    def test_dpmlm(self):
        self.text("dpmlm_adapter.py", [], "The food was superb.", "The food was quite good.")
        self.text("dpmlm_adapter.py", ["two-counts"], "The food was superb.", "The food was quite good.")

    def test_diffractor(self):
        hello = self.text("diffractor_adapter.py", ["TEM"], "superb food", "good food")
        self.assertFalse(hello["repeatable"])
        self.text("diffractor_adapter.py", ["geometric", "a", "b"], "superb food", "a/b food")

    def test_dpst(self):
        self.text("dpst_adapter.py", ["50k", "model"], "the food", "the food 2.5", epsilon=2.5)

    def test_presidio(self):
        self.text("presidio_adapter.py", [], "My name is Don.", "My name is <PERSON>.")
        self.text("presidio_adapter.py", ["PHONE_NUMBER"], "My name is Don.", "My name is Don.")

    def test_a_failure_is_an_answer(self):
        _, answers = self.ask(ADAPTERS / "dpst_adapter.py", ["51k", "model"],
                              {"epsilon": 1, "seeds": SEEDS[:1], "texts": ["a"]})
        self.assertIn("AssertionError", answers[0]["error"])

    def test_by_mldp(self):
        """mldp itself takes the hello and the answers of every adapter."""
        for name, arguments, text, want in (
                ("mldp_text_adapter.py", ["tem", self.vectors], "the food", "the food"),
                ("pypantera_adapter.py", ["cmp", self.vectors], "the food", "the food"),
                ("dpmlm_adapter.py", [], "superb food", "quite good food"),
                ("diffractor_adapter.py", ["TEM"], "superb food", "good food"),
                ("dpst_adapter.py", ["50k", "model"], "the food", "the food 100"),
                ("presidio_adapter.py", [], "I am Don", "I am <PERSON>")):
            command = " ".join(map(str, [sys.executable, ADAPTERS / name, *arguments]))
            done = subprocess.run([program(), "privatize", "--command", command, "--epsilon", "100"], input=text + "\n",
                                  capture_output=True, text=True, env=self.environment)
            self.assertEqual((done.returncode, done.stdout), (0, want + "\n"), name + ": " + done.stderr)

    def test_short(self):
        for path in ADAPTERS.glob("*.py"):
            self.assertLessEqual(len(path.read_text(encoding="utf-8").splitlines()), 40, path.name)

    def test_logistic_with_scikit_learn(self):
        """The branch of the example that scikit-learn takes."""
        hello, answers = self.ask(
            ROOT / "examples" / "external" / "logistic.py", [],
            {"seed": "ff" * 32, "train": [["superb food", 1], ["awful room", 0]], "test": ["awful", "the food"]})
        self.assertEqual((hello["role"], answers), ("attacker", [{"id": 1, "labels": [0, 1]}]))


if __name__ == "__main__":
    unittest.main()
