#!/usr/bin/env python3
"""Time SanText: numpy (distances by a matrix product, exp, cumulative sum,
searchsorted) and mldp, one core each, in one run on the same vectors.

    mechanisms/bench/compare.py --mldp bin/mldp --vectors glove.6B.100d.txt --words 27000 --epsilon 1,5,10

Two speeds of each. "new" are words met for the first time: the cost of a row,
words taken in batches. "seen" are words whose rows are in memory, one
searchsorted a word in numpy. mldp is timed from text to text (mldp bench: the
first repetition and the fastest), numpy without text: the comparison is in its
favour. OpenBLAS is given the fastest core type, as in internal/kernel/bench.
"""
import argparse
import csv
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SEARCH = pathlib.Path(__file__).resolve().parents[2] / "internal" / "kernel" / "bench" / "compare.py"


def search_script():
    spec = importlib.util.spec_from_file_location("search", SEARCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numpy_rates(vectors, epsilon, distinct, tokens, batch):
    """Words per second of rows made in batches, and of draws from kept rows."""
    import numpy as np

    rng = np.random.default_rng(1)
    n = len(vectors)
    squares = (vectors**2).sum(axis=1)
    words = rng.permutation(n)[:distinct]
    kept = []
    start = time.perf_counter()
    for i in range(0, distinct, batch):
        q = words[i : i + batch]
        d = vectors[q] @ vectors.T
        d *= -2
        d += squares
        d += squares[q][:, None]
        np.maximum(d, 0, out=d)
        np.sqrt(d, out=d)
        d *= -epsilon / 2
        np.exp(d, out=d)
        np.cumsum(d, axis=1, out=d)
        u = rng.random(len(q)) * d[:, -1]
        for row, x in zip(d, u):
            np.searchsorted(row, x)
        kept.append(d)
    new = distinct / (time.perf_counter() - start)
    rows = np.concatenate(kept)
    order, u = rng.integers(0, distinct, tokens), rng.random(tokens)
    start = time.perf_counter()
    for w, x in zip(order, u):
        row = rows[w]
        row.searchsorted(x * row[-1])
    return new, tokens / (time.perf_counter() - start)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--vectors", required=True, help="GloVe text file, gzipped or not")
    p.add_argument("--words", type=int, default=27000, help="the first words of the file")
    p.add_argument("--epsilon", default="1,5,10")
    p.add_argument("--distinct", type=int, default=1024, help="rows that numpy makes and keeps")
    p.add_argument("--tokens", type=int, default=200_000, help="words privatised per repetition")
    p.add_argument("--batch", type=int, default=128, help="rows that numpy makes at once")
    p.add_argument("--repeat", type=int, default=5)
    p.add_argument("--dataset", default="generated-reviews", help="data set that mldp privatises")
    p.add_argument("--data", default="", help="data folder of mldp")
    p.add_argument("--mldp", help="the mldp binary")
    a = p.parse_args()
    epsilons = [float(e) for e in a.epsilon.split(",")]

    search = search_script()
    for name in ("OPENBLAS", "OMP", "MKL"):
        os.environ[name + "_NUM_THREADS"] = "1"
    if importlib.util.find_spec("numpy") is None:
        sys.exit("compare.py: numpy is not installed (apt-get install python3-numpy libopenblas0)")
    core = search.fastest_core_type()
    if core:
        os.environ["OPENBLAS_CORETYPE"] = core
    print(f"using OPENBLAS_CORETYPE={core or '(unset)'}")
    names, vectors = search.read_vectors(a.vectors, a.words)
    print(f"{len(vectors)} words x {vectors.shape[1]}, one core, words/s; load average {os.getloadavg()[0]:.1f}")

    ours = {}
    if a.mldp:
        with tempfile.TemporaryDirectory() as tmp:
            subset = os.path.join(tmp, "subset.txt")
            with open(subset, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as f:
                for name, row in zip(names, vectors):
                    f.write(name + " " + " ".join(repr(float(x)) for x in row) + "\n")
            table = os.path.join(tmp, "bench.csv")
            command = [a.mldp, "bench", "--embedding", subset, "--mechanism", "santext,tem", "--epsilon", a.epsilon,
                       "--dataset", a.dataset, "--count", str(a.tokens), "--repeat", str(a.repeat), "--csv", table]
            if a.data:
                command += ["--data", a.data]
            env = dict(os.environ, XDG_CACHE_HOME=os.path.join(tmp, "cache"), GOMAXPROCS="1")
            subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
            with open(table) as f:
                for row in csv.DictReader(f):
                    ours[row["mechanism"], float(row["epsilon"])] = row

    for epsilon in epsilons:
        rates = [numpy_rates(vectors, epsilon, a.distinct, a.tokens, a.batch) for _ in range(3)]
        new, seen = (sorted(r[i] for r in rates)[1] for i in (0, 1))
        print(f"epsilon {epsilon:5g}  numpy          new {new:10.0f}  seen {seen:10.0f}")
        for name in ("santext", "tem"):
            row = ours.get((name, epsilon))
            if row:
                fast = float(row["words_per_second_fastest"])
                print(f"               mldp {name:8}  all new words of the text, then seen: first repetition "
                      f"{float(row['words_per_second_slowest']):10.0f}  fastest {fast:10.0f} = {fast / seen:.1f} x numpy seen  "
                      f"({float(row['peak_memory_mib']):.0f} MiB)")


if __name__ == "__main__":
    main()
