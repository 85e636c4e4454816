#!/usr/bin/env python3
"""DP-MLM (Meisenbacher et al., ACL Findings 2024) as a mechanism of mldp: dpmlm_adapter.py [MODEL].

Epsilon is that of a token. MODEL is a folder or a name; without one it is RoBERTa, with the library's bounds of it,
else those of the paper, as its own default has both ends at one place. It needs NLTK's stopwords and punkt_tab. Not
declared repeatable: the numbers of a model differ from machine to machine.
Run with dpmlm 1.3.0 and a small model in a folder (requirements/dpmlm.txt).
"""
import functools
import sys

from mldpbench import mechanism

MODEL = sys.argv[1] if len(sys.argv) > 1 else "FacebookAI/roberta-base"


@functools.cache
def engine():
    from dpmlm import DPMLM
    from dpmlm.utils import calculate_logit_bounds
    bounds = calculate_logit_bounds(MODEL, bound_strategy=lambda mean, std, low, high: (mean, mean + 4 * std)) \
        if len(sys.argv) > 1 else None
    return DPMLM(MODEL=MODEL, calibration=bounds)


@mechanism("dpmlm", version="1.3.0", parameters={"model": MODEL}, text=True, aligned=False, repeatable=False,
           guarantee={"reason": "the paper claims epsilon for each rewritten token; stop words and signs are copied"})
def private(text, epsilon, rng):
    library = engine()
    import numpy
    numpy.random.seed([rng.getrandbits(32) for _ in range(8)])
    return library.dpmlm_rewrite(text, epsilon=epsilon)[0]


if __name__ == "__main__":
    private.serve()
