"""A mechanism as an anonymizer of tau-eval 0.2.1, and one of its anonymizers measured here; texts on standard input."""
import sys

import evaluate
evaluate.load = lambda *_, **__: None  # when imported, tau-eval fetches metrics from a hub
import mldpbench
from datasets import Dataset
from presidio_adapter import engines
from tau_eval import Experiment
from tau_eval.models import presidio
from tau_eval.tasks import CustomTask

texts = sys.stdin.buffer.read().decode().rstrip("\n").split("\n")
task = CustomTask
task.evaluate = lambda self, texts: {"words": sum(len(t.split()) for t in texts)}
with mldpbench.Mechanism("cmp", epsilon=10, embedding="generated") as ours:
    ours.anonymize_batch = ours.privatise
    experiment = Experiment([ours], [], [task(Dataset.from_dict({"text": texts}), "news")])
    experiment.run()
presidio.AnalyzerEngine = lambda: engines()[0]  # with a model of spaCy from the registry
theirs = [presidio.EntityDeletion().anonymize(t) for t in texts]
rows = mldpbench.evaluate(texts, {"entity-deletion": theirs}, seed=1)
print(experiment.results, {r["quantity"]: r["value"] for r in rows})
