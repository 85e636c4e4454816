#!/usr/bin/env python3
"""1-Diffractor (Meisenbacher et al., IWSPA 2024) as a mechanism of mldp: diffractor_adapter.py METHOD VECTORS...

METHOD is geometric or TEM; VECTORS are files, with a header or not, or names of its embeddings, which it downloads to
~/.cache/diffractor. NLTK's stopwords and punkt_tab must be there. One engine answers for every epsilon, as a second in
one process hangs. Not repeatable: its worker processes have generators of their own, made from one seed; that seed is
fresh in each process, as its default of 42 would give equal noise in all.
Run with dp-diffractor 0.2.1 (requirements/diffractor.txt).
"""
import functools
import os
import secrets
import sys

from mldpbench import mechanism
from vectors import rewritten

if len(sys.argv) < 3 or sys.argv[1] not in ("geometric", "TEM"):
    sys.exit("diffractor_adapter.py needs METHOD VECTORS, METHOD geometric or TEM, VECTORS a file or a name of its own")


@functools.cache
def engine():
    from diffractor import core
    fetch = core.ensure_embeddings  # by name
    core.ensure_embeddings = lambda names: [
        rewritten(n, header=True) if os.path.isfile(n) else fetch([n])[0] for n in names]
    config = core.DiffractorConfig(method=sys.argv[1], verbose=False, seed=secrets.randbits(32))
    return core.Diffractor(config, model_names=sys.argv[2:])


@mechanism("1-diffractor-" + sys.argv[1], version="0.2.1", text=True, aligned=False, repeatable=False, guarantee={
    "reason": "the paper claims epsilon per step in a sorted list of words; stop words and unknown words are copied"})
def private(text, epsilon, rng):
    return engine().rewrite([text], epsilon=epsilon)[0]


if __name__ == "__main__":  # its workers may import this file
    private.serve()
