"""Trains vectors in the Poincaré ball from the hypernyms of WordNet (Nickel & Kiela 2017, by gensim).

pip install -r requirements.txt
python3 poincare.py WORDNET_DIR poincare.wordnet.10d.txt [--words FILE] [--size 10] [--epochs 20]

WORDNET_DIR has data.noun, or data.noun.gz. A relation is (word, word of a direct hypernym), of words without a space;
--words keeps those of the words of a file, one a line, and of their hypernyms up to the root. Equal inputs give equal
vectors. The name of the file must have "poincare": that says which distance its vectors have.
"""

import argparse
import gzip
import pathlib

from gensim.models.poincare import PoincareModel


def lines(folder):
    plain = pathlib.Path(folder, "data.noun")
    if plain.exists():
        return plain.open(encoding="utf-8")
    return gzip.open(pathlib.Path(folder, "data.noun.gz"), "rt", encoding="utf-8")


def synsets(folder):
    """The words of each noun synset, and the synsets of its direct hypernyms."""
    words, above = {}, {}
    with lines(folder) as file:
        for line in file:
            if line.startswith("  "):
                continue
            fields = line.split(" | ")[0].split()
            count = int(fields[3], 16)
            key = fields[0]
            words[key] = [w.lower() for w in fields[4 : 4 + 2 * count : 2] if "_" not in w]
            pointers = fields[5 + 2 * count :]
            above[key] = [pointers[i + 1] for i in range(0, len(pointers), 4) if pointers[i] in ("@", "@i")]
    return words, above


def nearest_words(key, words, above):
    """The words of the nearest synset above one that has words."""
    found = []
    for up in above[key]:
        found += words[up][:1] or nearest_words(up, words, above)
    return found


def relations(folder, wanted):
    words, above = synsets(folder)
    pairs = {}
    for key, own in words.items():
        for word in own:
            for up in nearest_words(key, words, above):
                if up != word:
                    pairs.setdefault(word, set()).add(up)
    keep = set(pairs) if wanted is None else {w for w in wanted if w in pairs}
    waiting = sorted(keep)
    while waiting:
        for up in sorted(pairs.get(waiting.pop(), ())):
            if up not in keep:
                keep.add(up)
                waiting.append(up)
    return [(w, up) for w in sorted(keep) for up in sorted(pairs.get(w, ()))]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("wordnet")
    arguments.add_argument("out")
    arguments.add_argument("--words")
    arguments.add_argument("--size", type=int, default=10)
    arguments.add_argument("--epochs", type=int, default=20)
    a = arguments.parse_args()
    wanted = set(pathlib.Path(a.words).read_text(encoding="utf-8").split()) if a.words else None
    model = PoincareModel(relations(a.wordnet, wanted), size=a.size, negative=10, seed=1, workers=1)
    model.train(epochs=a.epochs, batch_size=100)
    keys = sorted(model.kv.key_to_index, key=lambda w: -model.kv.get_vecattr(w, "count"))
    with open(a.out, "w", encoding="utf-8") as out:
        print(len(keys), a.size, file=out)
        for word in keys:
            print(word, *(f"{x:.8f}" for x in model.kv[word]), file=out)


if __name__ == "__main__":
    main()
