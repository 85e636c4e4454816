"""Trains the study's LSTM in PyTorch on what models/bench/accuracy -dump wrote,
with the settings given, and prints test accuracies over seeds: the same
network, initialisation, optimiser, clipping and early stopping as ours.

    python3 accuracy_torch.py FILE SEEDS LEARNING_RATE CLIP PATIENCE
"""

import copy
import json
import statistics
import sys
import time

import numpy as np
import torch
from torch.nn.utils.rnn import pack_padded_sequence

HIDDEN, BATCH, DROPOUT, EPOCHS = 64, 64, 0.2, 30


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


def batches(order):
    return (order[i : i + BATCH] for i in range(0, len(order), BATCH))


def evaluate(network, documents, labels):
    network.eval()
    loss, right = 0.0, 0
    with torch.no_grad():
        for part in batches(list(range(len(documents)))):
            logits = network([documents[i] for i in part])
            y = torch.tensor([labels[i] for i in part])
            loss += torch.nn.functional.cross_entropy(logits, y, reduction="sum").item()
            right += (logits.argmax(1) == y).sum().item()
    network.train()
    return loss / len(documents), 100 * right / len(documents)


def train(data, table, seed, rate, clip, patience):
    torch.manual_seed(seed)
    network = Network(table, data["classes"])
    learned = [p for p in network.parameters() if p.requires_grad]
    adam = torch.optim.Adam(learned, lr=rate, eps=1e-7)
    best, kept, at, epoch = float("inf"), None, 0, 0
    for epoch in range(1, EPOCHS + 1):
        for part in batches(torch.randperm(len(data["train"])).tolist()):
            adam.zero_grad()
            logits = network([data["train"][i] for i in part])
            torch.nn.functional.cross_entropy(logits, torch.tensor([data["train_labels"][i] for i in part])).backward()
            if clip > 0:
                torch.nn.utils.clip_grad_norm_(learned, clip)
            adam.step()
        loss, _ = evaluate(network, data["validation"], data["validation_labels"])
        if loss < best:
            best, kept, at = loss, copy.deepcopy(network.state_dict()), epoch
        elif epoch - at >= patience:
            break
    network.load_state_dict(kept)
    return evaluate(network, data["test"], data["test_labels"])[1], at, epoch


def read(file):
    with open(file, "rb") as f:
        data = json.loads(f.readline())
        return data, torch.from_numpy(np.frombuffer(f.read(), dtype="<f4").reshape(-1, data["dimension"]).copy())


def main():
    file, seeds, rate, clip, patience = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
    torch.set_num_threads(1)
    data, table = read(file)
    accuracies = []
    for seed in range(seeds):
        start = time.time()
        accuracy, best, epochs = train(data, table, seed, rate, clip, patience)
        accuracies.append(accuracy)
        print(f"seed {seed}  test {accuracy:.2f}  best epoch {best} of {epochs}  {time.time() - start:.1f} s", flush=True)
    print(f"{statistics.mean(accuracies):.2f} ± {statistics.stdev(accuracies):.2f} (sd, {seeds} seeds)")


if __name__ == "__main__":
    main()
