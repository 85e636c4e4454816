#!/usr/bin/env python3
"""1-Diffractor (Meisenbacher et al., IWSPA 2024) as a mechanism of mldp: diffractor_adapter.py METHOD [MODEL ...].

METHOD is geometric or TEM; MODEL are names of its embeddings, all five without,
which it downloads, or has in ~/.cache/diffractor/MODEL.txt with a header. NLTK's
stopwords and punkt_tab must be there. One engine answers for every epsilon, as
a second in one process hangs.
Needs dp-diffractor and mldpbench. Not repeatable: its worker processes have
generators of their own, made from one seed; that seed is fresh in each process,
as its default of 42 would give equal noise in all.
Interface: README and src/diffractor of github.com/sjmeis/Diffractor, 0.2.0;
never run with it.
"""
import functools
import secrets
import sys

from mldpbench import mechanism


@functools.cache
def engine():
    from diffractor import Diffractor, DiffractorConfig
    config = DiffractorConfig(method=sys.argv[1], verbose=False, seed=secrets.randbits(32))
    return Diffractor(config, model_names=sys.argv[2:] or None)


@mechanism("1-diffractor-" + sys.argv[1], text=True, aligned=False, repeatable=False, guarantee={"reason":
           "the paper claims epsilon per step in a sorted list of words; stop words and unknown words are copied"})
def private(text, epsilon, rng):
    return engine().rewrite([text], epsilon=epsilon)[0]


if __name__ == "__main__":  # its workers may import this file
    private.serve()
