"""Times the study's LSTM in PyTorch as BenchmarkLSTM times ours: processor time
in ms per 64 documents, training in batches of 64 and scoring 512 or 64 at a
time, on one thread. Run by compare.sh.

    python3 lstm_torch.py                  80 random tokens a document
    python3 lstm_torch.py imdb DUMP...     documents that models/bench/accuracy -dump wrote
"""

import resource
import statistics
import sys
import time

import torch
from torch.nn.utils.rnn import pack_padded_sequence

from accuracy_torch import BATCH, Network, read

TOKENS, VOCABULARY, SCORED, ROUNDS = 80, 27_000, 512, 40


class Padded(torch.nn.Module):
    """The network on documents laid out before the clock starts."""

    def __init__(self, table, classes):
        super().__init__()
        self.network = Network(table, classes)

    def forward(self, tokens, lengths):
        n = self.network
        x = n.embedding(tokens)
        if lengths is not None:
            x = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        _, (state, _) = n.lstm(x)
        return n.dense(n.dropout(state[-1]))


def lay_out(documents, size):
    out = []
    for at in range(0, len(documents), size):
        part = documents[at : at + size]
        lengths = [max(1, len(d)) for d in part]
        tokens = torch.zeros(len(part), max(lengths), dtype=torch.long)
        for i, d in enumerate(part):
            tokens[i, : len(d)] = torch.tensor(d)
        same = min(lengths) == max(lengths)
        out.append((tokens, None if same else torch.tensor(lengths), torch.arange(len(part)) % 2))
    return out


def milliseconds(batches, size, step):
    times = []
    for r in range(ROUNDS + 3):
        start = time.process_time()
        step(*batches[r % len(batches)])
        if r >= 3:
            times.append(1000 * (time.process_time() - start) * BATCH / size)
    return min(times), statistics.median(times)


def measure(name, table, documents):
    network = Padded(table, 2)
    learned = [p for p in network.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(learned, lr=0.003, eps=1e-7)

    def train(tokens, lengths, labels):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(tokens, lengths), labels).backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()

    def infer(tokens, lengths, labels):
        with torch.no_grad():
            network(tokens, lengths)

    for what, size, step in (("train", BATCH, train), ("infer", SCORED, infer), ("infer64", BATCH, infer)):
        best, median = milliseconds(lay_out(documents, size), size, step)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"PyTorch-{torch.__version__}/{name}/d={table.shape[1]}/{what} {best:.2f} best-cpu-ms {median:.2f} median-cpu-ms {peak:.0f} peak-MiB", flush=True)
        network.eval()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    for file in sys.argv[2:]:
        data, table = read(file)
        measure(sys.argv[1], table, data["train"][: 2 * SCORED])
    if len(sys.argv) == 1:
        for dimension in (50, 100, 300):
            documents = torch.randint(VOCABULARY, (SCORED, TOKENS)).tolist()
            measure("random", torch.randn(VOCABULARY, dimension) * 0.4, documents)


if __name__ == "__main__":
    main()
