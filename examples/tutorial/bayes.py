import collections, math
from mldpbench import attacker

@attacker("bayes")
def bayes(train, test, rng):
    counts = collections.defaultdict(collections.Counter)
    for text, label in train:
        counts[label].update(text.split())

    def score(text, label):
        n, total = counts[label], sum(counts[label].values())
        return sum(math.log((n[w] + 1) / (total + 1)) for w in text.split())

    return [max(counts, key=lambda label: score(text, label)) for text in test]

bayes.serve()
