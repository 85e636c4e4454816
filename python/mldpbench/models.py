"""models.py encode|score|logprob NAME [FOLDER]: a model as a process, the role "model" of docs/external.md.

Onnxruntime answers for a FOLDER with model.onnx and tokenizer.json; without one NAME is a model of
sentence-transformers (encode) or transformers (score: masked; logprob: causal).
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
import io
import itertools
import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, NamedTuple

VERSION = 3  # of the numbers: kept answers are those of one version
BATCH = 1024  # tokens run together
PIECES = 3  # of the longest word that a masked model scores; it runs once for each length
NEEDS = {"encode": ["sentence-transformers"], "score": ["transformers", "torch"], "logprob": ["transformers", "torch"]}
SERVES = {"encode": "vectors", "score": "a masked model", "logprob": "a causal model"}

np: Any = None  # numpy, which is imported when a model is opened, so that its absence is an answer
Array = Any
Ids = list[int]


def log_softmax(x: Array) -> Array:
    """The logarithms of the probabilities of scores, along the last axis."""
    x = x.astype("f8")
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def read(*path: str) -> Any:
    """A file of JSON; an empty dict where there is none."""
    name = os.path.join(*path)
    if not os.path.exists(name):
        return {}
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Folder:
    """model.onnx under onnxruntime."""

    def __init__(self, path: str) -> None:
        import onnxruntime
        from tokenizers import Tokenizer
        self.version = f"onnxruntime {onnxruntime.__version__}"
        self.cores = cores()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # batches run side by side, so that no core waits inside of one
        self.tokenizer = Tokenizer.from_file(os.path.join(path, "tokenizer.json"))
        self.session = onnxruntime.InferenceSession(os.path.join(path, "model.onnx"), options)
        self.config = read(path, "config.json")
        self.limits = [read(path, "tokenizer_config.json").get("model_max_length"),
                       read(path, "sentence_bert_config.json").get("max_seq_length")]
        self.unit = any(m["type"].endswith("Normalize") for m in read(path, "modules.json"))
        prefix = "pooling_mode_"
        pooling = read(path, "1_Pooling", "config.json")
        modes = {key[len(prefix):] for key, on in pooling.items() if key.startswith(prefix) and on is True}
        if modes not in (set(), {"cls_token"}, {"mean_tokens"}):
            raise ValueError("1_Pooling/config.json: only mean pooling and CLS pooling are supported")
        self.cls = "cls_token" in modes
        self.output = ""
        self.serves = "nothing known"
        self._choose({output.name: len(output.shape) for output in self.session.get_outputs()})

    def _choose(self, ranks: dict[str, int]) -> None:
        """Chooses the output that is used: its name and number of axes say what it is."""
        known = [("sentence_embedding", 2, "vectors"), ("logits", 3, "scores")]
        known += [(name, 3, "vectors") for name in ranks]
        known += [(name, 2, "vectors") for name in ranks if name != "logits"]
        for name, rank, serves in known:
            if ranks.get(name) == rank:
                self.output = name
                self.serves = serves
                return

    def run(self, ids: Array, mask: Array) -> Array:
        """The output for rows of tokens."""
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0,
                "position_ids": np.cumsum(ids * 0 + 1, 1) - 1}
        inputs = self.session.get_inputs()
        for wanted in inputs:
            if wanted.name not in feed:  # a cache of the past, which is empty
                feed[wanted.name] = np.zeros((len(ids), wanted.shape[1], 0, wanted.shape[3]), "f4")
        return self.session.run([self.output], {wanted.name: feed[wanted.name] for wanted in inputs})[0]


class Hub:
    """A model of transformers."""

    unit = False
    cls = False
    serves = "scores"
    cores = 1

    def __init__(self, name: str, task: str) -> None:
        import torch
        import transformers
        torch.set_grad_enabled(False)
        kind = transformers.AutoModelForMaskedLM if task == "score" else transformers.AutoModelForCausalLM
        self.tensor = torch.tensor
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = kind.from_pretrained(name).eval().to(self.device)
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(name, use_fast=True).backend_tokenizer
        self.config = self.model.config.to_dict()
        self.limits: list[int | None] = []
        self.version = _version(transformers, self.model.config)

    def run(self, ids: Array, mask: Array) -> Array:
        """The logits for rows of tokens."""
        ids = self.tensor(ids, device=self.device)
        mask = self.tensor(mask, device=self.device)
        return self.model(input_ids=ids, attention_mask=mask).logits.float().cpu().numpy()


class Sentences:
    """A model of sentence-transformers, which knows its own limits and pooling."""

    def __init__(self, name: str) -> None:
        import sentence_transformers
        self.model = sentence_transformers.SentenceTransformer(name)
        config = getattr(getattr(self.model[0], "auto_model", None), "config", None)
        self.version = _version(sentence_transformers, config)

    def encode(self, texts: list[str]) -> Array:
        """A vector for each text."""
        plain = [" ".join(text.split()) for text in texts]
        return self.model.encode(plain, convert_to_numpy=True, show_progress_bar=False)


def _version(package: Any, config: Any) -> str:
    """The version of a library and the commit of a model."""
    commit = getattr(config, "_commit_hash", None) or ""
    return f"{package.__name__} {package.__version__} {commit}".strip()


class _Job(NamedTuple):
    """A text with a place whose words are scored."""

    ids: Ids
    row: int  # of the answer
    place: int  # of the first masked token
    words: list[int]  # those candidates that have as many pieces
    pieces: Array  # of each of them


class _Window(NamedTuple):
    """A part of a sequence: its tokens from ``begin`` on are given probabilities."""

    sequence: int
    start: int
    begin: int
    end: int


class Pieces:
    """Answers of a model that runs pieces of text."""

    def __init__(self, model: Folder | Hub, task: str) -> None:
        self.model = model
        self.version = model.version
        self.tokenizer = model.tokenizer
        first = 2 if model.config.get("model_type") in ("roberta", "xlm-roberta", "camembert", "mpnet") else 0
        limits = [*model.limits, (model.config.get("max_position_embeddings") or 0) - first,
                  (self.tokenizer.truncation or {}).get("max_length")]
        self.limit = int(min([n for n in limits if n and 2 <= n <= 1 << 16], default=512))
        self.tokenizer.no_padding()
        known = self.tokenizer.encode("the movie was really good and the bank was not")
        if task == "encode":
            self.tokenizer.enable_truncation(self.limit)
        else:
            self.tokenizer.no_truncation()
        special: Ids = known.special_tokens_mask
        start = special.index(0)
        end = len(known.ids) - special[::-1].index(0)
        self.before: Ids = known.ids[:start]
        self.after: Ids = known.ids[end:]
        self.candidates: list[str] | None = None
        masks = [*map(self.tokenizer.token_to_id, ("[MASK]", "<mask>")), model.config.get("mask_token_id")]
        self.mask = next((i for i in masks if i is not None), None)
        serves = model.serves
        if serves == "scores":
            serves = "a causal model" if self._is_causal(known.ids, start, end) else "a masked model"
        wanted = SERVES[task]
        if serves != wanted or (wanted == "a masked model" and self.mask is None):
            raise ValueError(f"{serves}: not what {task} needs, {wanted}")

    def _is_causal(self, ids: Ids, start: int, end: int) -> bool:
        """Whether another last piece leaves what the model says of those before it, as a masked model does not."""
        other = [*ids[:end - 1], ids[start], *self.after]
        one, two = (self.model.run(np.array([x]), np.ones((1, len(x)), int))[0, :end - 1] for x in (ids, other))
        return bool(np.allclose(one, two, rtol=1e-4, atol=1e-4))

    def outputs(self, sequences: list[Ids], use: Callable[[int, Array], Any]) -> list[Any]:
        """What ``use(i, output)`` returns for each sequence: the longest first, as many batches at once as the model has
        cores."""
        out: list[Any] = [None] * len(sequences)

        def run(batch: list[int]) -> None:
            most = max(1, len(sequences[batch[0]]))
            ids = np.array([sequences[i] + [-1] * (most - len(sequences[i])) for i in batch], np.int64)
            for i, x in zip(batch, self.model.run(ids.clip(0), (ids >= 0).astype(np.int64))):
                out[i] = use(i, x)

        with ThreadPoolExecutor(self.model.cores) as pool:
            list(pool.map(run, _batches(sequences)))
        return out

    def ids(self, texts: list[str]) -> list[Ids]:
        """The tokens of each text."""
        return [e.ids for e in self.tokenizer.encode_batch([" ".join(t.split()) for t in texts])]

    def encode(self, texts: list[str]) -> list[Array]:
        """A vector for each text; that of one without tokens is zero."""
        sequences = self.ids(texts)

        def vector(i: int, x: Array) -> Array:
            if x.ndim == 1:
                pooled = x
            elif self.model.cls:
                pooled = x[0]
            else:
                pooled = x[:len(sequences[i]) or 1].mean(0, dtype="f8")
            length = max(np.linalg.norm(pooled), 1e-12) if self.model.unit else 1
            return pooled * bool(sequences[i]) / length

        return self.outputs(sequences, vector)

    def spelled(self, words: list[str], prefix: str) -> list[Ids]:
        """The tokens of each word after a prefix."""
        return [e.ids for e in self.tokenizer.encode_batch([prefix + w for w in words], add_special_tokens=False)]

    def _prepare(self, candidates: list[str]) -> None:
        """Spells the candidates as first words and as later ones."""
        spellings = [self.spelled(candidates, " "), self.spelled(candidates, "")]
        unknown = {self.tokenizer.token_to_id(t) for t in ("[UNK]", "<unk>")}
        self.usable = [all(0 < len(s) <= PIECES and not unknown & {*s} for s in pair) for pair in zip(*spellings)]
        self.lengths = [self._by_length(spelling) for spelling in spellings]
        self.candidates = candidates

    def _by_length(self, spelling: list[Ids]) -> dict[int, tuple[list[int], Array]]:
        """The usable candidates of each number of pieces, and those pieces."""
        found = {}
        for n in range(1, PIECES + 1):
            words = [i for i, pieces in enumerate(spelling) if self.usable[i] and len(pieces) == n]
            if words:
                found[n] = (words, np.array([spelling[i] for i in words]))
        return found

    def score(self, items: list[dict[str, Any]], candidates: list[str]) -> list[Array]:
        """For each place of each text of words: ln Pr of every candidate there (docs/external.md says which)."""
        if candidates != self.candidates:  # those of all texts are the same
            self._prepare(candidates)
        jobs: list[_Job] = []
        out: list[Array] = []
        for item in items:
            words = self.spelled(item["words"][:1], "") + self.spelled(item["words"][1:], " ")
            for place in item["places"]:
                jobs += self._jobs(words, place, len(out))
                out.append(np.full(len(candidates), -np.inf))

        def use(k: int, logits: Array) -> None:
            job = jobs[k]
            length = job.pieces.shape[1]
            logs = log_softmax(logits[job.place:job.place + length])
            out[job.row][job.words] = logs[range(length), job.pieces].sum(1)

        self.outputs([job.ids for job in jobs], use)
        return [log_softmax(row) if any(self.usable) else row for row in out]

    def _jobs(self, words: list[Ids], place: int, row: int) -> Iterator[_Job]:
        """The text once for each number of pieces of a candidate, cut around the place."""
        left = list(itertools.chain.from_iterable(words[:place]))
        right = list(itertools.chain.from_iterable(words[place + 1:]))
        for n, (of, pieces) in self.lengths[1 if place == 0 else 0].items():
            room = self.limit - len(self.before) - len(self.after) - n
            after = right[:max(room // 2, room - len(left))]
            before = [*self.before, *left[max(0, len(left) + len(after) - room):]]
            yield _Job([*before, *[self.mask or 0] * n, *after, *self.after], row, len(before), of, pieces)

    def logprob(self, texts: list[str]) -> list[Array]:
        """ln Pr of each token of each text but the first, given those before it, in windows that half overlap."""
        bos = self.model.config.get("bos_token_id")
        sequences = [s if self.before or bos is None else [bos, *s] for s in self.ids(texts)]
        windows = [window for i, s in enumerate(sequences) for window in self._windows(i, len(s))]
        out = [np.zeros(max(0, len(s) - 1)) for s in sequences]

        def use(k: int, logits: Array) -> None:
            i, start, begin, end = windows[k]
            logs = log_softmax(logits[begin - 1 - start:end - 1 - start])
            out[i][begin - 1:end - 1] = logs[np.arange(end - begin), sequences[i][begin:end]]

        self.outputs([sequences[w.sequence][w.start:w.end] for w in windows], use)
        return out

    def _windows(self, sequence: int, length: int) -> Iterator[_Window]:
        if length < 2:
            return
        half = self.limit // 2
        for start in range(0, max(1, length - half), self.limit - half):
            yield _Window(sequence, start, start + half if start else 1, min(length, start + self.limit))


def _batches(sequences: list[Ids]) -> Iterator[list[int]]:
    """The places of sequences that run together, the longest first."""
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
    while order:
        longest = len(sequences[order[-1]]) or 1
        count = min(len(order), BATCH // longest or 1)
        yield [order.pop() for _ in range(count)]


def opened(task: str, name: str, folder: str | None) -> Pieces | Sentences:
    """The model, or an error that says which libraries are missing."""
    needs = ["onnxruntime", "tokenizers", "numpy"] if folder else NEEDS[task]
    missing = [m for m in needs if importlib.util.find_spec(m.replace("-", "_")) is None]
    if missing:
        raise ImportError(f"this Python has no {', '.join(missing)}; install with: {sys.executable} -m pip install "
                          + " ".join(needs))
    globals()["np"] = importlib.import_module("numpy")
    if folder:
        return Pieces(Folder(folder), task)
    if task == "encode":
        return Sentences(name)
    return Pieces(Hub(name, task), task)


def main(task: str, name: str, folder: str | None = None) -> None:
    """Says hello, or why there is no model, and answers requests until there are no more."""
    for pipe in sys.stdin, sys.stdout:
        if isinstance(pipe, io.TextIOWrapper):
            pipe.reconfigure(encoding="utf-8", newline="\n")  # whatever the system says
    out = sys.stdout
    sys.stdout = sys.stderr  # libraries greet, and that is no answer
    hello = {"protocol": 2, "role": "model", "name": os.path.basename(os.path.abspath(folder or name))}
    try:
        model = opened(task, name, folder)
        print(json.dumps({**hello, "version": f"{VERSION} {model.version}"}), file=out, flush=True)
    except Exception as failed:  # noqa: BLE001 (whatever a library raises)
        print(json.dumps({**hello, "error": " ".join(str(failed).split()) or repr(failed)}), file=out)
        return
    for line in sys.stdin:
        request = json.loads(line)
        arguments = [request[task]]
        if task == "score":
            arguments.append(request["candidates"])
        answer: dict[str, Any] = {"id": request["id"]}
        try:
            rows = getattr(model, task)(*arguments)
            answer["numbers"] = [base64.b64encode(np.asarray(r, "<f4").tobytes()).decode() for r in rows]
        except Exception as failed:  # noqa: BLE001 (of this request: the process lives on)
            answer["error"] = f"{type(failed).__name__}: {failed}"
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
