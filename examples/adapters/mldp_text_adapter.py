#!/usr/bin/env python3
"""mldp-text (Meisenbacher et al., LREC-COLING 2024) as a mechanism of mldp: mldp_text_adapter.py KIND VECTORS.

KIND is multivariate_calibrated, truncated_gumbel, vickrey, tem or mahalanobis.
VECTORS has one word a line and no header, as {vectors} in a study. Needs
mldp-text, gensim >= 4, and mldpbench.
Interface: README and src/mldp_text of github.com/sjmeis/MLDP, 0.1.2; never run
with it.
"""
import functools
import random
import sys

from mldpbench import mechanism

KIND, VECTORS = sys.argv[1:3]
CLAIMED = {"multivariate_calibrated": "CMP", "tem": "TEM"}  # papers that claim epsilon per Euclidean distance


@functools.cache
def engine(epsilon):
    import mldp_text
    from gensim.models import KeyedVectors
    vectors = KeyedVectors.load_word2vec_format(VECTORS, binary=False, no_header=True)
    random.seed(0)  # truncated_gumbel draws a word when it is made: the same in every process
    return mldp_text.get_mechanism(KIND, epsilon=epsilon, embedding_matrix=vectors, dim=vectors.vector_size,
                                   vocab=set(vectors.key_to_index), use_faiss=False)


@mechanism(f"mldp-text-{KIND}", version="0.1.2", guarantee={"metric": "euclidean", "factor": 1, "reason":
           "claimed by the paper of " + CLAIMED[KIND]} if KIND in CLAIMED else {"reason": "see the paper of " + KIND})
def private(tokens, epsilon, rng):
    library = engine(epsilon)
    import numpy
    numpy.random.seed([rng.getrandbits(32) for _ in range(8)])
    return [str(library.replace_word(token)) for token in tokens]


if __name__ == "__main__":  # its workers may import this file
    private.serve()
