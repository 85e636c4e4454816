#!/usr/bin/env bash
# Seen 2026-11-28 with Python 3.11 and polars 2.1.0.
# Behaviour: a lazy query calls a Python function once for an expression or a frame that stands in it twice, so that noise
# drawn in the function is the same in both places. Two expressions of the same function draw anew, and so does a frame
# that is collected twice.
# One would guess: as many calls as the query names; a function of Python is not known to give the same answer again.
# Who meets it: whoever makes two releases, or the repetitions of an experiment, in one query. Way out: collect each by
# itself, or give the function a number of the repetition as an argument of its own.
# Output seen:
#   two columns of one expression: equal, 3 calls
#   two columns of two expressions: different, 6 calls
#   a frame under itself: equal, 3 calls
#   collect_all of a frame twice: equal, 3 calls
#   collect, twice: different, 6 calls
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q polars==2.1.0 2> log || { cat log >&2; exit 2; }
cat > try.py <<'PY'
import random

import polars as pl

calls = []


def noise(text):
    calls.append(text)
    return random.random()


def drawn():
    return pl.col("text").map_elements(noise, return_dtype=pl.Float64)


def says(what, first, second):
    print(f"{what}: {'equal' if first.to_list() == second.to_list() else 'different'}, {len(calls)} calls")
    calls.clear()


texts = pl.LazyFrame({"text": ["a quiet room", "a noisy bar", "a late bus"]})
one = drawn()
frame = texts.with_columns(one=one, two=one).collect()
says("two columns of one expression", frame["one"], frame["two"])
frame = texts.with_columns(one=drawn(), two=drawn()).collect()
says("two columns of two expressions", frame["one"], frame["two"])
release = texts.with_columns(one=drawn())
frame = pl.concat([release, release]).collect()
says("a frame under itself", frame["one"][:3], frame["one"][3:])
both = pl.collect_all([release, release])
says("collect_all of a frame twice", both[0]["one"], both[1]["one"])
says("collect, twice", release.collect()["one"], release.collect()["one"])
PY
venv/bin/python try.py 2> log | tee seen
diff seen - <<'OUT'
two columns of one expression: equal, 3 calls
two columns of two expressions: different, 6 calls
a frame under itself: equal, 3 calls
collect_all of a frame twice: equal, 3 calls
collect, twice: different, 6 calls
OUT
