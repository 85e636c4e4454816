"""Times the study's LSTM in PyTorch: ms per training batch and per inference
batch at the sizes of BenchmarkLSTM (hidden 64, 80 tokens, batch 64), on one
thread. Run by compare.sh."""

import statistics
import time

import torch

HIDDEN, TOKENS, BATCH, VOCABULARY, CLASSES = 64, 80, 64, 27_000, 2
ROUNDS = 40


class Network(torch.nn.Module):
    def __init__(self, dimension):
        super().__init__()
        table = torch.randn(VOCABULARY, dimension) * 0.4
        self.embedding = torch.nn.Embedding.from_pretrained(table, freeze=True)
        self.lstm = torch.nn.LSTM(dimension, HIDDEN, batch_first=True)
        self.dropout = torch.nn.Dropout(0.2)
        self.dense = torch.nn.Linear(HIDDEN, CLASSES)

    def forward(self, tokens):
        _, (state, _) = self.lstm(self.embedding(tokens))
        return self.dense(self.dropout(state[-1]))


def milliseconds(step):
    times = []
    for round in range(ROUNDS + 5):
        start = time.perf_counter()
        step()
        if round >= 5:
            times.append(1000 * (time.perf_counter() - start))
    return min(times), statistics.median(times)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    for dimension in (50, 100, 300):
        network = Network(dimension)
        optimizer = torch.optim.Adam((p for p in network.parameters() if p.requires_grad), lr=0.001, eps=1e-7)
        loss = torch.nn.CrossEntropyLoss()
        tokens = torch.randint(VOCABULARY, (BATCH, TOKENS))
        labels = torch.arange(BATCH) % CLASSES

        def train():
            optimizer.zero_grad()
            loss(network(tokens), labels).backward()
            torch.nn.utils.clip_grad_norm_((p for p in network.parameters() if p.requires_grad), 1.0)
            optimizer.step()

        def infer():
            with torch.no_grad():
                network(tokens)

        for name, step in (("train", train), ("infer", infer)):
            best, median = milliseconds(step)
            print(f"PyTorch-{torch.__version__}/{name}/d={dimension} {best:.2f} ms best {median:.2f} ms median", flush=True)
            network.eval()


if __name__ == "__main__":
    main()
