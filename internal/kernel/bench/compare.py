#!/usr/bin/env python3
"""Time exact nearest-neighbour search: numpy (GEMM and argmin), faiss
IndexFlatL2 and mldp, one core each, in one run on the same vectors.

    compare.py --mldp bin/mldp --vectors glove.6B.100d.txt --words 27000 --epsilon 5

Needs Debian's python3-numpy, libopenblas0 and python3-faiss; what is missing is
left out and said. mldp is timed from text to text, noise and all, the others
by their search alone: the comparison is in their favour.

OpenBLAS picks its kernel by processor model and takes those it does not know
for old ones. This script sets OPENBLAS_CORETYPE before numpy is loaded, to the
fastest of the core types that the processor can run (each is timed in a child
process), prints what it chose, and so compares with OpenBLAS at its best.
"""
import argparse
import csv
import gzip
import importlib.util
import os
import subprocess
import sys
import tempfile
import time

BATCH = 1024


def core_types():
    """OpenBLAS core types worth trying, by what the processor can do."""
    with open("/proc/cpuinfo") as f:
        flags = next((line for line in f if line.startswith("flags")), "").split()
    types = [""]  # OpenBLAS's own choice
    if "avx2" in flags and "fma" in flags:
        types += ["Haswell", "Zen"]
    if "avx512f" in flags and "avx512vl" in flags:
        types.append("SkylakeX")
    return types


def fastest_core_type():
    best, rates = "", {}
    for core in core_types():
        env = dict(os.environ, OPENBLAS_NUM_THREADS="1")
        env.pop("OPENBLAS_CORETYPE", None)
        if core:
            env["OPENBLAS_CORETYPE"] = core
        code = (
            "import numpy as np,time\n"
            "a=np.ones((1024,100),np.float32);b=np.ones((100,8192),np.float32);a@b\n"
            "t=[]\n"
            "for _ in range(7):\n"
            " s=time.perf_counter();a@b;t.append(time.perf_counter()-s)\n"
            "print(2*1024*100*8192/min(t)/1e9)"
        )
        out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        if out.returncode == 0:
            rates[core] = float(out.stdout)
    for core, rate in rates.items():
        print(f"OPENBLAS_CORETYPE={core or '(unset)':10} {rate:7.1f} GFLOP/s")
        if rate > rates[best]:
            best = core
    return best


def read_vectors(path, words):
    import numpy as np

    opener = gzip.open if path.endswith(".gz") else open
    names, rows = [], []
    with opener(path, "rt", encoding="utf-8", errors="surrogateescape", newline="\n") as f:
        for line in f:
            fields = line.rstrip("\n").split(" ")
            if not rows and len(fields) == 2:
                continue  # header
            width = len(rows[0]) if rows else len(fields) - 1
            names.append(" ".join(fields[:-width]))
            rows.append(np.array(fields[-width:], dtype=np.float32))
            if len(rows) == words:
                break
    return names, np.vstack(rows)


def noisy(vectors, n, epsilon, rng):
    import numpy as np

    d = vectors.shape[1]
    z = rng.standard_normal((n, d), dtype=np.float32)
    z *= (rng.gamma(d, 1 / epsilon, n) / np.linalg.norm(z, axis=1)).astype(np.float32)[:, None]
    return vectors[rng.integers(0, len(vectors), n)] + z


def median_rate(f, queries, repeat):
    rates = []
    for _ in range(repeat):
        start = time.perf_counter()
        for i in range(0, len(queries), BATCH):
            f(queries[i : i + BATCH])
        rates.append(len(queries) / (time.perf_counter() - start))
    return sorted(rates)[len(rates) // 2]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--vectors", required=True, help="GloVe text file, gzipped or not")
    p.add_argument("--words", type=int, default=27000, help="the first words of the file")
    p.add_argument("--epsilon", type=float, default=5)
    p.add_argument("--queries", type=int, default=8192)
    p.add_argument("--repeat", type=int, default=5)
    p.add_argument("--dataset", default="generated-reviews", help="data set that mldp privatises")
    p.add_argument("--data", default="", help="data folder of mldp")
    p.add_argument("--mldp", help="the mldp binary")
    a = p.parse_args()

    for name in ("OPENBLAS", "OMP", "MKL"):
        os.environ[name + "_NUM_THREADS"] = "1"
    if importlib.util.find_spec("numpy") is None:
        sys.exit("compare.py: numpy is not installed (apt-get install python3-numpy libopenblas0)")
    core = fastest_core_type()
    if core:
        os.environ["OPENBLAS_CORETYPE"] = core
    print(f"using OPENBLAS_CORETYPE={core or '(unset)'}")

    import numpy as np

    names, vectors = read_vectors(a.vectors, a.words)
    queries = noisy(vectors, a.queries, a.epsilon, np.random.default_rng(1))
    print(f"{len(vectors)} words x {vectors.shape[1]}, epsilon {a.epsilon:g}, batches of {BATCH}, one core, median of {a.repeat}")
    half = (vectors**2).sum(axis=1) / 2
    transposed = np.ascontiguousarray(vectors.T)

    def numpy_search(q):
        s = q @ transposed
        s -= half
        return s.argmax(axis=1)

    rates = {"numpy GEMM + argmax": median_rate(numpy_search, queries, a.repeat)}
    if importlib.util.find_spec("faiss") is None:
        print("faiss is not installed (apt-get install python3-faiss)")
    else:
        import faiss

        faiss.omp_set_num_threads(1)
        index = faiss.IndexFlatL2(vectors.shape[1])
        index.add(vectors)
        rates["faiss IndexFlatL2"] = median_rate(lambda q: index.search(q, 1), queries, a.repeat)

    if a.mldp:
        with tempfile.TemporaryDirectory() as tmp:
            # The very words that the others search.
            subset = os.path.join(tmp, "subset.txt")
            with open(subset, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as f:
                for name, row in zip(names, vectors):
                    f.write(name + " " + " ".join(repr(float(x)) for x in row) + "\n")
            for simd in ("avx512", "avx2"):
                table = os.path.join(tmp, simd + ".csv")
                command = [a.mldp, "bench", "--embedding", subset, "--mechanism", "cmp", "--epsilon", f"{a.epsilon:g}",
                           "--dataset", a.dataset, "--count", str(a.queries), "--repeat", str(a.repeat), "--csv", table]
                if a.data:
                    command += ["--data", a.data]
                env = dict(os.environ, MLDP_SIMD=simd, XDG_CACHE_HOME=os.path.join(tmp, "cache"))
                subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
                with open(table) as f:
                    row = next(csv.DictReader(f))
                if row["simd"] == simd:
                    rates[f"mldp CMP, end to end, {simd}"] = float(row["words_per_second"])

    for name, rate in rates.items():
        line = f"{name:34} {rate:9.0f} words/s {1e6 / rate:8.2f} us"
        for other in ("numpy GEMM + argmax", "faiss IndexFlatL2"):
            if name.startswith("mldp") and other in rates:
                line += f"  {rate / rates[other]:5.2f}x {other.split()[0]}"
        print(line)


if __name__ == "__main__":
    main()
