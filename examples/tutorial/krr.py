import math, sys
from mldpbench import mechanism

words = [line.split()[0] for line in open(sys.argv[1], encoding="utf-8")]
known = set(words)

@mechanism("my-krr", guarantee={"metric": "discrete", "factor": 1})
def krr(tokens, epsilon, rng):
    odds = math.expm1(epsilon)  # that a word stays, against the whole list
    stays = odds / (odds + len(words))
    return [t if t in known and rng.random() < stays else rng.choice(words) for t in tokens]

krr.serve()
