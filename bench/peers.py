"""The peers of bench.py: peers.py search-numpy|search-faiss WORDS DIMENSIONS, or lstm DIMENSIONS. Prints one number, by
processor time: words a second, or the median milliseconds of a training batch of 64."""
import gzip
import os
import statistics
import sys
import time

EPSILON, BATCH, ROUNDS = 5.0, 2048, 5


def search(which, n, d):
    import numpy as np

    rows = []
    with gzip.open(f"{os.environ['MLDP_DATA']}/glove.6B.{d}d.subset.txt.gz", "rt", encoding="utf-8", errors="replace",
                   newline="\n") as f:
        for line in f:
            rows.append(np.array(line.split(" ")[-d:], dtype=np.float32))
            if len(rows) == n:
                break
    vectors, rng = np.vstack(rows), np.random.default_rng(1)
    z = rng.standard_normal((BATCH, d), dtype=np.float32)
    z *= (rng.gamma(d, 1 / EPSILON, BATCH) / np.linalg.norm(z, axis=1)).astype(np.float32)[:, None]
    queries = vectors[rng.integers(0, n, BATCH)] + z
    if which == "faiss":
        import faiss

        faiss.omp_set_num_threads(1)
        index = faiss.IndexFlatL2(d)
        index.add(vectors)
        find = lambda: index.search(queries, 1)  # noqa: E731
    else:
        half, transposed = (vectors * vectors).sum(1) / 2, np.ascontiguousarray(vectors.T)

        def find():
            for i in range(0, BATCH, 512):
                scores = queries[i : i + 512] @ transposed
                scores -= half
                scores.argmax(1)

    return BATCH / statistics.median(timed(find, ROUNDS))


def timed(f, rounds):
    f()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        f()
        times.append(time.process_time() - start)
    return times


def lstm(d):
    """80 random tokens a document, 64 documents a batch, hidden 64: as BenchmarkLSTM."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(1)
    table = torch.nn.Embedding.from_pretrained(torch.randn(27_000, d) * 0.4, freeze=True)
    layer, dropout, dense = torch.nn.LSTM(d, 64, batch_first=True), torch.nn.Dropout(0.2), torch.nn.Linear(64, 2)
    layer.bias_hh_l0.requires_grad = False  # one bias, as in ours
    learned = [p for m in (layer, dense) for p in m.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(learned, lr=0.001, eps=1e-7)
    batches = [torch.randint(27_000, (64, 80)) for _ in range(8)]
    labels, turn = torch.arange(64) % 2, iter(range(1 << 30))

    def step():
        optimizer.zero_grad()
        _, (state, _) = layer(table(batches[next(turn) % len(batches)]))
        torch.nn.functional.cross_entropy(dense(dropout(state[-1])), labels).backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()

    step()
    return 1000 * statistics.median(timed(step, 40))


if __name__ == "__main__":
    what, *numbers = sys.argv[1:]
    n = [int(x) for x in numbers]
    print(lstm(*n) if what == "lstm" else search(what.removeprefix("search-"), *n))
