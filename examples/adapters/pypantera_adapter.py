#!/usr/bin/env python3
"""pyPANTERA (De Faveri et al.) as a mechanism of mldp: pypantera_adapter.py KIND VECTORS [NAME=NUMBER ...].

KIND is cmp, mahalanobis (lam=1), vickrey-cmp (t=0.75) or vickrey-mhl (lam=1
t=0.75). VECTORS has one word a line, as {vectors} in a study. pyPANTERA makes
words lower case. Needs pypantera, pandas and mldpbench.
Interface: pypantera/src of github.com/Kekkodf/pypantera; its README has none,
and 1.0.2 may install under another name: take a clone. Never run with it.
"""
import functools
import importlib
import sys

from mldpbench import mechanism

KINDS = {"cmp": ("cmp", "CMP", {}), "mahalanobis": ("mahalanobis", "Mahalanobis", {"lam": 1.0}),
         "vickrey-cmp": ("vickrey", "VickreyCMP", {"t": 0.75}),
         "vickrey-mhl": ("vickrey", "VickreyMhl", {"lam": 1.0, "t": 0.75})}
MODULE, CLASS, DEFAULTS = KINDS[sys.argv[1]]
PARAMETERS = {**DEFAULTS, **{k: float(v) for k, _, v in (a.partition("=") for a in sys.argv[3:])}}


@functools.cache
def engine(epsilon):
    module = importlib.import_module("pypantera.src.EmbeddingPerturbationMechanism." + MODULE)
    return getattr(module, CLASS)({"embPath": sys.argv[2], "epsilon": epsilon, **PARAMETERS})


@mechanism("pypantera-" + sys.argv[1], version="1.0.2", parameters=PARAMETERS, guarantee={"metric": "euclidean",
           "factor": 1, "reason": "claimed by the paper of CMP"} if CLASS == "CMP" else {"reason": "see its paper"})
def private(tokens, epsilon, rng):
    library = engine(epsilon)
    import numpy, pandas
    numpy.random.seed([rng.getrandbits(32) for _ in range(8)])
    table = pandas.DataFrame({"id": [0], "text": [" ".join(tokens)]})
    return library.obfuscateText(table, 1)["obfuscatedText"][0][0].split() if tokens else []


if __name__ == "__main__":  # its workers may import this file
    private.serve()
