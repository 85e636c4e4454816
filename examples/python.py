"""A column privatised, learnt from, measured, compared; needs pip install ./python pandas scikit-learn jinja2 (make adapters runs it)."""
import mldpbench
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

table = pd.DataFrame({"text": [f"the {thing} was {word}" for thing in ("food", "room", "hotel", "service")
                               for word in ("superb", "awful", "wonderful", "terrible")] * 10})
table["good"] = table.text.str.contains("superb|wonderful")
for mechanism in "cmp", "k-rr":
    table[mechanism] = mldpbench.Privatizer(mechanism=mechanism, epsilon=5, embedding="generated", seed=1).transform(table.text)
model = make_pipeline(mldpbench.Privatizer("cmp", epsilon=5, embedding="generated"), TfidfVectorizer(), LinearSVC())
model.fit(table.text, table.good)
print("trained on privatised texts:", model.score(table.text, table.good))
rows = mldpbench.evaluate(table.text, {m: table[m] for m in ("cmp", "k-rr")}, labels=table.good, seed=1).to_frame()
print(rows[rows.quantity.isin(["accuracy", "pp"])].groupby(["mechanism", "quantity"]).value.mean())

study = {"schema": 1, "name": "pair", "seed": 1, "repetitions": 2, "epsilons": [2, 5, 10, 20, 40],
         "datasets": [{"name": "generated-news", "train": 200, "validation": 40, "test": 100}],
         "embeddings": [{"name": "generated", "dimensions": [50]}], "metrics": {"inference_error": {"samples": 10}},
         "mechanisms": [{"name": "cmp"}, {"name": "rank-fix"}], "models": [{"name": "svm"}]}
mldpbench.run(study)
pairs = mldpbench.compare("runs/pair", em=0.5).to_frame()  # CMP at equal privacy
pairs = pairs[pairs.table.str.startswith("pairs")]
print(pairs[["mechanism", "against", "difference", "verdict"]].to_latex(index=False, float_format="%.1f"))
