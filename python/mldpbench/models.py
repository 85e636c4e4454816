"""models.py encode|score|logprob NAME [FOLDER]: a model as a process, the role "model" of docs/external.md.

Onnxruntime answers for a FOLDER with model.onnx and tokenizer.json; without one NAME is a model of
sentence-transformers (encode) or transformers (score: masked; logprob: causal)."""

import base64
import importlib.util
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

VERSION = 3  # of the numbers: kept answers are those of one version
BATCH = 1024  # tokens run together
PIECES = 3  # of the longest word that a masked model scores; it runs once for each length
NEEDS = {"encode": ["sentence-transformers"], "score": ["transformers", "torch"], "logprob": ["transformers", "torch"]}


def log_softmax(x):
    x = x.astype("f8") - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def read(*path):
    return json.load(open(os.path.join(*path), encoding="utf-8")) if os.path.exists(os.path.join(*path)) else {}


class Folder:
    """model.onnx under onnxruntime."""
    def __init__(self, path, _):
        import onnxruntime
        from tokenizers import Tokenizer
        self.version, options = f"onnxruntime {onnxruntime.__version__}", onnxruntime.SessionOptions()
        self.cores = len(getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0))
        options.intra_op_num_threads = 1  # batches run side by side, so that no core waits inside of one
        self.tokenizer = Tokenizer.from_file(os.path.join(path, "tokenizer.json"))
        self.session = onnxruntime.InferenceSession(os.path.join(path, "model.onnx"), options)
        self.config, pooling = read(path, "config.json"), read(path, "1_Pooling", "config.json")
        self.limits = [read(path, "tokenizer_config.json").get("model_max_length"),
                       read(path, "sentence_bert_config.json").get("max_seq_length")]
        self.unit = any(m["type"].endswith("Normalize") for m in read(path, "modules.json"))
        modes = {k[13:] for k, on in pooling.items() if k.startswith("pooling_mode_") and on is True}
        if modes not in (set(), {"cls_token"}, {"mean_tokens"}):
            raise ValueError("1_Pooling/config.json: only mean pooling and CLS pooling are supported")
        self.cls, ranks = "cls_token" in modes, {o.name: len(o.shape) for o in self.session.get_outputs()}
        known = [("sentence_embedding", 2, "vectors"), ("logits", 3, "scores"), *((n, 3, "vectors") for n in ranks),
                 *((n, 2, "vectors") for n in ranks if n != "logits")]
        self.output, _, self.serves = next((k for k in known if ranks.get(k[0]) == k[1]), ("", 0, "nothing known"))

    def run(self, ids, mask):
        feed = dict(input_ids=ids, attention_mask=mask, token_type_ids=ids * 0, position_ids=np.cumsum(ids * 0 + 1, 1) - 1)
        inputs = self.session.get_inputs()
        past = {i.name: np.zeros((len(ids), i.shape[1], 0, i.shape[3]), "f4") for i in inputs if i.name not in feed}
        return self.session.run([self.output], {i.name: {**feed, **past}[i.name] for i in inputs})[0]


class Hub:
    """A model of transformers, or of sentence-transformers, which knows its own limits and pooling."""
    def __init__(self, name, task):
        package = importlib.import_module("sentence_transformers" if task == "encode" else "transformers")
        if task == "encode":
            self.model = package.SentenceTransformer(name)
            config = getattr(getattr(self.model[0], "auto_model", None), "config", None)
        else:
            import torch
            torch.set_grad_enabled(False)
            kind = package.AutoModelForMaskedLM if task == "score" else package.AutoModelForCausalLM
            self.tensor, self.device = torch.tensor, "cuda" if torch.cuda.is_available() else "cpu"
            self.model = kind.from_pretrained(name).eval().to(self.device)
            self.tokenizer = package.AutoTokenizer.from_pretrained(name, use_fast=True).backend_tokenizer
            config, self.limits, self.serves, self.cores = self.model.config, [], "scores", 1
            self.config = config.to_dict()
        self.version = f"{package.__name__} {package.__version__} {getattr(config, '_commit_hash', None) or ''}".strip()

    def encode(self, texts):
        return self.model.encode([" ".join(t.split()) for t in texts], convert_to_numpy=True, show_progress_bar=False)

    def run(self, ids, mask):
        ids, mask = (self.tensor(x, device=self.device) for x in (ids, mask))
        return self.model(input_ids=ids, attention_mask=mask).logits.float().cpu().numpy()


class Pieces:
    """Answers of a model that runs pieces of text."""
    def __init__(self, model, task):
        self.model, self.version, self.tokenizer = model, model.version, model.tokenizer
        begin = 2 * (model.config.get("model_type") in ("roberta", "xlm-roberta", "camembert", "mpnet"))
        limits = [*model.limits, (model.config.get("max_position_embeddings") or 0) - begin,
                  (self.tokenizer.truncation or {}).get("max_length")]
        self.limit = int(min([n for n in limits if n and 2 <= n <= 1 << 16], default=512))
        self.tokenizer.no_padding()
        known = self.tokenizer.encode("the movie was really good and the bank was not")
        ids, special, serves = known.ids, known.special_tokens_mask, model.serves
        self.tokenizer.enable_truncation(self.limit) if task == "encode" else self.tokenizer.no_truncation()
        start, end = special.index(0), len(ids) - special[::-1].index(0)
        self.before, self.after, self.candidates = ids[:start], ids[end:], None
        masks = [*map(self.tokenizer.token_to_id, ("[MASK]", "<mask>")), model.config.get("mask_token_id")]
        self.mask = next((i for i in masks if i is not None), None)
        if serves == "scores":  # a later piece changes what a masked model says of those before it
            other = [*ids[:end - 1], ids[start], *self.after]
            one, two = (model.run(np.array([x]), np.ones((1, len(x)), int))[0, :end - 1] for x in (ids, other))
            serves = "a causal model" if np.allclose(one, two, rtol=1e-4, atol=1e-4) else "a masked model"
        wanted = {"score": "a masked model", "logprob": "a causal model", "encode": "vectors"}[task]
        if serves != wanted or wanted == "a masked model" and self.mask is None:
            raise ValueError(f"{serves}: not what {task} needs, {wanted}")

    def outputs(self, sequences, use):
        """use(i, output) for each list of ids: longest first, as many batches at once as the model has cores."""
        order, out = sorted(range(len(sequences)), key=lambda i: len(sequences[i])), [None] * len(sequences)
        def batches():
            while order:
                yield [order.pop() for _ in range(min(len(order), BATCH // (len(sequences[order[-1]]) or 1) or 1))]
        def run(batch):
            most = max(1, len(sequences[batch[0]]))
            ids = np.array([sequences[i] + [-1] * (most - len(sequences[i])) for i in batch], np.int64)
            for i, x in zip(batch, self.model.run(ids.clip(0), (ids >= 0).astype(np.int64))):
                out[i] = use(i, x)
        with ThreadPoolExecutor(self.model.cores) as pool:
            list(pool.map(run, batches()))
        return out

    def ids(self, texts):
        return [e.ids for e in self.tokenizer.encode_batch([" ".join(t.split()) for t in texts])]

    def encode(self, texts):
        def vector(i, x):
            x = x if x.ndim == 1 else x[0] if self.model.cls else x[:len(sequences[i]) or 1].mean(0, dtype="f8")
            return x * bool(sequences[i]) / (max(np.linalg.norm(x), 1e-12) if self.model.unit else 1)
        return self.outputs(sequences := self.ids(texts), vector)

    def spelled(self, words, first):
        words = [w if first else " " + w for w in words]
        return [e.ids for e in self.tokenizer.encode_batch(words, add_special_tokens=False)]

    def score(self, items, candidates):
        """For each place of each text of words: ln Pr of every candidate there (docs/external.md says which)."""
        if candidates != self.candidates:  # those of all texts are the same
            self.candidates, spellings = candidates, [self.spelled(candidates, first) for first in (False, True)]
            unknown = {self.tokenizer.token_to_id(t) for t in ("[UNK]", "<unk>")}
            self.usable = [all(0 < len(s) <= PIECES and not unknown & {*s} for s in pair) for pair in zip(*spellings)]
            self.lengths = [{n: (of, np.array([s[i] for i in of])) for n in range(1, PIECES + 1)
                             if (of := [i for i, p in enumerate(s) if self.usable[i] and len(p) == n])} for s in spellings]
        jobs, out = [], []
        for item in items:
            words = self.spelled(item["words"][:1], True) + self.spelled(item["words"][1:], False)
            for place in item["places"]:
                left, right = sum(words[:place], []), sum(words[place + 1:], [])
                for n, (of, pieces) in self.lengths[place == 0].items():
                    room = self.limit - len(self.before) - len(self.after) - n  # cut around the place
                    after = right[:max(room // 2, room - len(left))]
                    before = [*self.before, *left[max(0, len(left) + len(after) - room):]]
                    jobs.append(([*before, *[self.mask] * n, *after, *self.after], len(out), len(before), of, pieces))
                out.append(np.full(len(candidates), -np.inf))
        def use(k, logits):
            _, row, at, of, pieces = jobs[k]
            out[row][of] = log_softmax(logits[at:at + pieces.shape[1]])[range(pieces.shape[1]), pieces].sum(1)
        self.outputs([job[0] for job in jobs], use)
        return [log_softmax(row) if any(self.usable) else row for row in out]

    def logprob(self, texts):
        bos, half = self.model.config.get("bos_token_id"), self.limit // 2
        sequences = [s if self.before or bos is None else [bos, *s] for s in self.ids(texts)]
        windows = [(i, start, start + half if start else 1, min(len(s), start + self.limit))
                   for i, s in enumerate(sequences) if len(s) > 1
                   for start in range(0, max(1, len(s) - half), self.limit - half)]
        out = [np.zeros(max(0, len(s) - 1)) for s in sequences]
        def use(k, logits):
            i, start, at, end = windows[k]
            logs = log_softmax(logits[at - 1 - start:end - 1 - start])
            out[i][at - 1:end - 1] = logs[np.arange(end - at), sequences[i][at:end]]
        self.outputs([sequences[i][start:end] for i, start, _, end in windows], use)
        return out


def main(task, name, folder=None):
    for pipe in sys.stdin, sys.stdout:
        pipe.reconfigure(encoding="utf-8", newline="\n")  # whatever the system says
    out, sys.stdout = sys.stdout, sys.stderr  # libraries greet, and that is no answer
    hello = {"protocol": 2, "role": "model", "name": os.path.basename(os.path.abspath(folder or name))}
    needs = ["onnxruntime", "tokenizers", "numpy"] if folder else NEEDS[task]
    try:
        if missing := [m for m in needs if importlib.util.find_spec(m.replace("-", "_")) is None]:
            raise ImportError(f"this Python has no {', '.join(missing)}; install with: {sys.executable} -m pip install "
                              + " ".join(needs))
        globals()["np"] = importlib.import_module("numpy")
        model = (Folder if folder else Hub)(folder or name, task)
        model = model if task == "encode" and not folder else Pieces(model, task)
        print(json.dumps({**hello, "version": f"{VERSION} {model.version}"}), file=out, flush=True)
    except Exception as failed:
        return print(json.dumps({**hello, "error": " ".join(str(failed).split()) or repr(failed)}), file=out)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            rows = getattr(model, task)(request[task], *([request["candidates"]] if task == "score" else []))
            answer = {"numbers": [base64.b64encode(np.asarray(r, "<f4").tobytes()).decode() for r in rows]}
        except Exception as failed:  # of this request: the process lives on
            answer = {"error": f"{type(failed).__name__}: {failed}"}
        print(json.dumps({"id": request["id"], **answer}), file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
