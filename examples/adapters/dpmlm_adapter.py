#!/usr/bin/env python3
"""DP-MLM (Meisenbacher et al., ACL Findings 2024) as a mechanism of mldp: dpmlm_adapter.py [MODEL].

Epsilon is that of a token. Without another MODEL the library's bounds of
RoBERTa are used, else those of the paper, as its own default has both ends at
one place. Needs dpmlm with its NLTK files, and mldpbench. Not declared
repeatable: the numbers of a model differ from machine to machine.
Interface: README (a text is returned) and src/dpmlm of github.com/sjmeis/DPMLM
(a text with two counts is); both are taken. Never run with the library.
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


@mechanism("dpmlm", parameters={"model": MODEL}, text=True, aligned=False, repeatable=False, guarantee={"reason":
           "the paper claims epsilon for each rewritten token; stop words and punctuation are copied"})
def private(text, epsilon, rng):
    library = engine()
    import numpy
    numpy.random.seed([rng.getrandbits(32) for _ in range(8)])
    out = library.dpmlm_rewrite(text, epsilon=epsilon)
    return out[0] if isinstance(out, tuple) else out


if __name__ == "__main__":
    private.serve()
