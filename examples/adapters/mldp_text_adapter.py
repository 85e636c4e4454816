#!/usr/bin/env python3
"""mldp-text (Meisenbacher et al., LREC-COLING 2024) as a mechanism of mldp.

mldp_text_adapter.py KIND VECTORS [NAME=NUMBER ...]: KIND is multivariate_calibrated, truncated_gumbel, vickrey, tem
or mahalanobis; numbers are arguments of its class, such as lambd=0.5. VECTORS may have a header and be a .gz, as
{vectors} of a study has not. Run with mldp-text 0.1.2 (requirements/mldp_text.txt).
"""
import functools
import random
import sys

from mldpbench import mechanism
from vectors import rewritten

if len(sys.argv) < 3:
    sys.exit("mldp_text_adapter.py needs KIND VECTORS, as in: mldp_text_adapter.py tem {vectors}")
KIND, VECTORS = sys.argv[1:3]
PARAMETERS = {k: float(v) for k, _, v in (a.partition("=") for a in sys.argv[3:])}
CLAIMED = {"multivariate_calibrated": "CMP", "tem": "TEM"}  # papers that claim epsilon per Euclidean distance


@functools.cache
def vectors():
    from gensim.models import KeyedVectors
    return KeyedVectors.load_word2vec_format(rewritten(VECTORS, header=True))


@functools.cache
def engine(epsilon):
    import mldp_text
    all, extent = vectors(), {}
    if KIND == "truncated_gumbel":  # what it would take by itself fails since Python 3.11
        from numpy.linalg import norm
        from_word = norm(all.vectors - all.vectors[random.Random(0).randrange(len(all))], axis=1)
        extent = {"min_inter_dist": from_word[from_word > 0].min(), "max_inter_dist": from_word.max()}
    return mldp_text.get_mechanism(KIND, epsilon=epsilon, embedding_matrix=all, dim=all.vector_size,
                                   vocab=set(all.key_to_index), use_faiss=False, **{**extent, **PARAMETERS})


@mechanism(f"mldp-text-{KIND}", version="0.1.2", parameters=PARAMETERS, guarantee={
    "metric": "euclidean", "factor": 1, "reason": "claimed by the paper of " + CLAIMED[KIND]} if KIND in CLAIMED
    else {"reason": "see the paper of " + KIND})
def private(tokens, epsilon, rng):
    library = engine(epsilon)
    import numpy
    numpy.random.seed([rng.getrandbits(32) for _ in range(8)])
    return [str(library.replace_word(token)) for token in tokens]


if __name__ == "__main__":  # its workers may import this file
    private.serve()
