#!/usr/bin/env python3
"""pyPANTERA (De Faveri et al.) as a mechanism of mldp: pypantera_adapter.py KIND VECTORS [NAME=NUMBER ...].

KIND is cmp, santext, tem (beta=0.001), mahalanobis (lam=1), vickrey-cmp (t=0.75) or vickrey-mhl (lam=1 t=0.75).
VECTORS may have a header and be a .gz, as {vectors} of a study has not. It makes words lower case. Its Mahalanobis
scales the shaped direction to length 1 again: another law, without the paper's guarantee. Its CusText fails: sums in 32
bits. Run with pypantera 1.0.2, whose package is "src" (requirements/pypantera.txt).
"""
import functools
import importlib
import sys

from mldpbench import mechanism
from vectors import rewritten

KINDS = {"cmp": ("Embedding", "cmp", "CMP", {}), "santext": ("Sampling", "santext", "SanText", {}),
         "tem": ("Sampling", "tem", "TEM", {"beta": 0.001}),
         "mahalanobis": ("Embedding", "mahalanobis", "Mahalanobis", {"lam": 1.0}),
         "vickrey-cmp": ("Embedding", "vickrey", "VickreyCMP", {"t": 0.75}),
         "vickrey-mhl": ("Embedding", "vickrey", "VickreyMhl", {"lam": 1.0, "t": 0.75})}
if len(sys.argv) < 3 or sys.argv[1] not in KINDS:
    sys.exit(f"pypantera_adapter.py needs KIND VECTORS, KIND one of {', '.join(KINDS)}")
FAMILY, MODULE, CLASS, DEFAULTS = KINDS[sys.argv[1]]
PARAMETERS = {**DEFAULTS, **{k: float(v) for k, _, v in (a.partition("=") for a in sys.argv[3:])}}


@functools.cache
def engine(epsilon):
    module = importlib.import_module(f"src.{FAMILY}PerturbationMechanism.{MODULE}")
    vectors = rewritten(sys.argv[2], header=False)
    return getattr(module, CLASS)({"embPath": vectors, "epsilon": epsilon, **PARAMETERS})


@mechanism("pypantera-" + sys.argv[1], version="1.0.2", parameters=PARAMETERS, guarantee={
    "metric": "euclidean", "reason": "claimed by the paper of " + CLASS} if CLASS in ("CMP", "SanText", "TEM")
    else {"reason": "see its paper"})
def private(tokens, epsilon, rng):
    library = engine(epsilon)
    import numpy, pandas
    numpy.random.seed([rng.getrandbits(32) for _ in range(8)])
    table = pandas.DataFrame({"id": [0], "text": [" ".join(tokens)]})
    return library.obfuscateText(table, 1)["obfuscatedText"][0][0].split() if tokens else []


if __name__ == "__main__":  # its workers may import this file
    private.serve()
