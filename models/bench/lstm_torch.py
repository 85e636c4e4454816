"""Times the study's LSTM in PyTorch as BenchmarkLSTM times ours: processor time
in ms per 64 documents, training in batches of 64 and scoring 512 or 64 at a
time, on one thread. Run by compare.sh.

    python3 lstm_torch.py    80 random tokens a document
"""

import resource
import statistics
import time

import torch
from torch.nn.utils.rnn import pack_padded_sequence

HIDDEN, BATCH, DROPOUT = 64, 64, 0.2
TOKENS, VOCABULARY, SCORED, ROUNDS = 80, 27_000, 512, 40


class Network(torch.nn.Module):
    def __init__(self, table, classes):
        super().__init__()
        self.embedding = torch.nn.Embedding.from_pretrained(table, freeze=True)
        self.lstm = torch.nn.LSTM(table.shape[1], HIDDEN, batch_first=True)
        self.dropout = torch.nn.Dropout(DROPOUT)
        self.dense = torch.nn.Linear(HIDDEN, classes)
        # As Keras does: Glorot, orthogonal, forget gate 1 (gates are i, f, g, o).
        torch.nn.init.xavier_uniform_(self.lstm.weight_ih_l0)
        torch.nn.init.orthogonal_(self.lstm.weight_hh_l0)
        torch.nn.init.zeros_(self.lstm.bias_ih_l0)
        torch.nn.init.zeros_(self.lstm.bias_hh_l0)
        with torch.no_grad():
            self.lstm.bias_ih_l0[HIDDEN : 2 * HIDDEN] = 1
        self.lstm.bias_hh_l0.requires_grad = False  # one bias, as in ours
        torch.nn.init.xavier_uniform_(self.dense.weight)
        torch.nn.init.zeros_(self.dense.bias)

    def forward(self, documents):
        lengths = [max(1, len(d)) for d in documents]
        padded = torch.zeros(len(documents), max(lengths), dtype=torch.long)
        for i, d in enumerate(documents):
            padded[i, : len(d)] = torch.tensor(d)
        packed = pack_padded_sequence(self.embedding(padded), lengths, batch_first=True, enforce_sorted=False)
        _, (state, _) = self.lstm(packed)
        return self.dense(self.dropout(state[-1]))


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
    for dimension in (50, 100, 300):
        documents = torch.randint(VOCABULARY, (SCORED, TOKENS)).tolist()
        measure("random", torch.randn(VOCABULARY, dimension) * 0.4, documents)


if __name__ == "__main__":
    main()
