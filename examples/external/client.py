#!/usr/bin/env python3
"""A mechanism for mldp in Python, standard library only: see docs/external.md.

client.py cmp|krr VECTORS [double]   the last: a planted lie, noise that is half as large
"""
import json, math, random, sys

kind, path, lie = (sys.argv[1:] + [None])[:3]
with open(path, encoding="utf-8") as f:
    vectors = {row[0]: [float(x) for x in row[1:]] for row in map(str.split, f)}
words = list(vectors)


def cmp(word, epsilon, rng):
    """The word nearest to the vector plus noise of density exp(-epsilon |z|)."""
    direction = [rng.gauss(0, 1) for _ in vectors[word]]
    radius = rng.gammavariate(len(direction), 1 / epsilon) / math.hypot(*direction)
    noisy = [x + radius * z for x, z in zip(vectors[word], direction)]
    return min(words, key=lambda w: math.dist(vectors[w], noisy))


def krr(word, epsilon, rng):
    """The word with odds of e^epsilon against each other word."""
    if rng.random() < 1 / (1 + (len(words) - 1) * math.exp(-epsilon)):
        return word
    other = rng.choice(words[:-1])
    return other if other != word else words[-1]


mechanism, metric = {"cmp": (cmp, "euclidean"), "krr": (krr, "discrete")}[kind]
print(json.dumps({"protocol": 1, "name": kind + "-python", "version": "1", "repeatable": True,
                  "guarantee": {"metric": metric, "factor": 1}}), flush=True)
for line in sys.stdin.buffer:  # UTF-8, whatever the system says
    request = json.loads(line)
    epsilon, documents = request["epsilon"] * (2 if lie == "double" else 1), []
    for tokens, seed in zip(request["documents"], request["seeds"]):
        rng, out = random.Random(seed), []
        for word in tokens:
            out.append(mechanism(word if word in vectors else rng.choice(words), epsilon, rng))
        documents.append(out)
    print(json.dumps({"id": request["id"], "documents": documents}), flush=True)
