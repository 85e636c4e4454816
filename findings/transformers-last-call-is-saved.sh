#!/usr/bin/env bash
# Seen 2026-11-28 with Python 3.11, transformers 5.24.0 and tokenizers 0.23.3.
# Behaviour: save_pretrained writes into tokenizer.json how the last call cut and padded its texts. tokenizers, which is
# what other languages and small servers read the file with, goes on cutting every text at that length; transformers
# itself does not, so that the two disagree over one file.
# One would guess: arguments of a call end with the call; the file depends on how the tokenizer was made.
# Who meets it: whoever saves a tokenizer beside a model for onnxruntime after having tried it. Way out: save before the
# first call, or no_truncation() and no_padding() after reading.
# Output seen:
#   saved before a call: transformers 4, tokenizers 4 pieces
#   saved after a call with max_length=2: transformers 4, tokenizers 2 pieces
#   saved after one more call without: transformers 4, tokenizers 4 pieces
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HF_HOME=$work/home
python3 -m venv venv
venv/bin/pip install -q transformers==5.24.0 tokenizers==0.23.3 2> log || { cat log >&2; exit 2; }
cat > try.py <<'PY'
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

words = ["[UNK]", "[PAD]", "a", "very", "quiet", "room"]
core = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, unk_token="[UNK]", pad_token="[PAD]")
text = "a very quiet room"


def says(what):
    tokenizer.save_pretrained("saved")
    whole = PreTrainedTokenizerFast.from_pretrained("saved")(text)["input_ids"]
    plain = Tokenizer.from_file("saved/tokenizer.json").encode(text).ids
    print(f"saved {what}: transformers {len(whole)}, tokenizers {len(plain)} pieces")


says("before a call")
tokenizer(text, truncation=True, max_length=2)
says("after a call with max_length=2")
tokenizer(text)
says("after one more call without")
PY
venv/bin/python try.py 2> log | tee seen
diff seen - <<'OUT'
saved before a call: transformers 4, tokenizers 4 pieces
saved after a call with max_length=2: transformers 4, tokenizers 2 pieces
saved after one more call without: transformers 4, tokenizers 4 pieces
OUT
