#!/usr/bin/env python3
"""An attacker for mldp: logistic regression on words; see docs/external.md.

scikit-learn is used where it is there, else the standard library only.
"""
import collections, json, math, random, sys

try:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
except ImportError:
    LogisticRegression = None


def with_sklearn(train, test, seed):
    """The label found for each test text."""
    texts = TfidfVectorizer(token_pattern=r"\S+")
    model = LogisticRegression(max_iter=1000, random_state=seed % 2**32)
    model.fit(texts.fit_transform(text for text, _ in train), [label for _, label in train])
    return [int(label) for label in model.predict(texts.transform(test))]


def alone(train, test, seed, epochs=20):
    """The same by stochastic gradient descent (AdaGrad)."""
    found_in = collections.Counter(word for text, _ in train for word in set(text.split()))
    weight = {word: math.log((1 + len(train)) / (1 + n)) for word, n in found_in.items()}

    def features(text):
        x = {w: n * weight[w] for w, n in collections.Counter(text.split()).items() if w in weight}
        length = math.sqrt(sum(v * v for v in x.values())) or 1
        return [("", 1.0)] + [(w, v / length) for w, v in x.items()]

    examples = [(features(text), label) for text, label in train]
    classes = sorted({label for _, label in train})
    model = {c: collections.defaultdict(float) for c in classes}
    squares = {c: collections.defaultdict(lambda: 1e-8) for c in classes}

    def probabilities(x):
        scores = {c: sum(model[c][w] * v for w, v in x) for c in classes}
        top = max(scores.values())
        powers = {c: math.exp(s - top) for c, s in scores.items()}
        return {c: p / sum(powers.values()) for c, p in powers.items()}

    rng = random.Random(seed)
    for _ in range(epochs):
        rng.shuffle(examples)
        for x, label in examples:
            for c, p in probabilities(x).items():
                for w, v in x:
                    slope = (p - (c == label)) * v + 1e-4 * model[c][w]
                    squares[c][w] += slope * slope
                    model[c][w] -= 0.5 * slope / math.sqrt(squares[c][w])
    guesses = []
    for text in test:
        p = probabilities(features(text))
        guesses.append(max(classes, key=p.get))
    return guesses


find = with_sklearn if LogisticRegression and "--alone" not in sys.argv else alone
print(json.dumps({"protocol": 2, "role": "attacker", "name": "logistic-python", "version": "1"}), flush=True)
for line in sys.stdin.buffer:  # UTF-8, whatever the system says
    request = json.loads(line)
    labels = find(request["train"], request["test"], int(request["seed"], 16))
    print(json.dumps({"id": request["id"], "labels": labels}), flush=True)
