#!/usr/bin/env python3
"""DP-ST (Meisenbacher et al., EMNLP 2025) as a mechanism of mldp: dpst_adapter.py MODE MODEL.

MODE is 50k, 100k or 200k; MODEL rebuilds the text; the variable HF_TOKEN is
passed on. Epsilon is that of a document. Needs dpst after `dpst setup`, its
database, and mldpbench. Not declared repeatable: a language model writes.
Interface: README and src/dpst of github.com/sjmeis/DPST; never run with it.
"""
import functools
import os
import sys

from mldpbench import mechanism


@functools.cache
def engine():
    from dpst import DPST
    return DPST(mode=sys.argv[1], model_checkpoint=sys.argv[2], hf_token=os.environ.get("HF_TOKEN"))


@mechanism("dpst-" + sys.argv[1], parameters={"model": sys.argv[2]}, text=True, aligned=False, repeatable=False,
           guarantee={"reason": "the paper claims epsilon for a document; one without triples may come back unchanged"})
def private(text, epsilon, rng):
    library = engine()
    import numpy
    numpy.random.seed([rng.getrandbits(32) for _ in range(8)])
    return library.privatize([text], epsilon=epsilon)[0]


if __name__ == "__main__":  # its workers may import this file
    private.serve()
    if engine.cache_info().currsize:
        engine().cleanup()
