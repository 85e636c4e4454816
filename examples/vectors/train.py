"""Trains fastText, word2vec and GloVe vectors on one corpus, so that what differs is the model alone.

pip install -r requirements.txt
python3 train.py texts.txt FOLDER [--size 100] [--epochs 10] [--min-count 5]

texts.txt has one text a line. FOLDER gets trained-fasttext.100d.txt, trained-word2vec.100d.txt and
trained-glove.100d.txt, of the same words in the same order, the most frequent first. fastText and word2vec are
gensim's, skip-gram with five negative samples and a window of 5. GloVe is ours in numpy, after Pennington et al. 2014,
eq. 8, with the settings of the reference trainer: window 10 weighted by 1/distance, x_max 10, alpha .75, AdaGrad at
.05; its vectors are the sums of both. Deviation: steps are taken for blocks of pairs, not for one after the other.
"""

import argparse
import collections
import pathlib
import re

import numpy
from gensim.models import FastText, Word2Vec


def glove(texts, words, size, epochs, block=4096):
    number = {w: i for i, w in enumerate(words)}
    counts = collections.Counter()
    for text in texts:
        ids = [number[w] for w in text if w in number]
        for i, a in enumerate(ids):
            for steps, b in enumerate(ids[i + 1 : i + 11], 1):
                counts[a, b] += 1 / steps
                counts[b, a] += 1 / steps
    pairs = numpy.array(list(counts), dtype=numpy.int32)
    x = numpy.fromiter(counts.values(), dtype=numpy.float64, count=len(counts))
    weight = numpy.minimum(1, (x / 10) ** 0.75)
    target = numpy.log(x)
    rng = numpy.random.default_rng(1)
    # the two vectors of a word, each with its bias as a further number
    sides = [(rng.random((len(words), size + 1)) - 0.5) / size for _ in range(2)]
    squares = [numpy.ones((len(words), size + 1)) for _ in range(2)]
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), block):
            at = order[start : start + block]
            rows = [pairs[at, side] for side in range(2)]
            values = [sides[side][rows[side]] for side in range(2)]
            guess = (values[0][:, :-1] * values[1][:, :-1]).sum(1) + values[0][:, -1] + values[1][:, -1]
            slope = (weight[at] * (guess - target[at]))[:, None]
            for side in range(2):
                step = slope * values[1 - side]
                step[:, -1] = slope[:, 0]
                numpy.add.at(squares[side], rows[side], step**2)
                numpy.subtract.at(sides[side], rows[side], 0.05 * step / numpy.sqrt(squares[side][rows[side]]))
    return (sides[0] + sides[1])[:, :-1]


def write(path, words, vectors):
    with open(path, "w", encoding="utf-8") as out:
        print(len(words), len(vectors[0]), file=out)
        for word, vector in zip(words, vectors, strict=True):
            print(word, *(f"{x:.6f}" for x in vector), file=out)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("texts")
    arguments.add_argument("folder")
    arguments.add_argument("--size", type=int, default=100)
    arguments.add_argument("--epochs", type=int, default=10)
    arguments.add_argument("--min-count", type=int, default=5)
    a = arguments.parse_args()
    texts = [re.findall(r"\w+", line.lower()) for line in open(a.texts, encoding="utf-8")]
    options = {"vector_size": a.size, "min_count": a.min_count, "epochs": a.epochs, "sg": 1, "seed": 1, "workers": 1}
    word2vec = Word2Vec(texts, **options).wv
    words = word2vec.index_to_key
    fasttext = FastText(texts, **options).wv
    folder = pathlib.Path(a.folder)
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / f"trained-word2vec.{a.size}d.txt", words, word2vec[words])
    write(folder / f"trained-fasttext.{a.size}d.txt", words, fasttext[words])
    write(folder / f"trained-glove.{a.size}d.txt", words, glove(texts, words, a.size, a.epochs))


if __name__ == "__main__":
    main()
