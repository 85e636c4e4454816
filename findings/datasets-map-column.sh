#!/usr/bin/env bash
# Seen 2026-11-28 with Python 3.11, datasets 5.2.0 and pyarrow 26.0.1.
# Behaviour: a Parquet file with a column of maps, which pyarrow writes and reads, is refused by
# Dataset.from_parquet, also where only the column of text is wanted and named.
# One would guess: maps as lists of pairs, as pyarrow gives them; at least the named column.
# Who meets it: whoever reads the tables of an engine. Way out: pyarrow.parquet.read_table(columns=…), then
# Dataset(table).
# Output seen:
#   pyarrow [('mood', 'good')]
#   datasets None ValueError
#   datasets ['text'] ValueError
#   by pyarrow a quiet room
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HF_HOME=$work/home
python3 -m venv venv
venv/bin/pip install -q datasets==5.2.0 pyarrow==26.0.1 2> log || { cat log >&2; exit 2; }
cat > try.py <<'PY'
import datasets
import pyarrow as pa
import pyarrow.parquet as pq

datasets.disable_progress_bars()
tags = pa.array([[("mood", "good")], [("mood", "bad")]], pa.map_(pa.string(), pa.string()))
pq.write_table(pa.table({"text": ["a quiet room", "a noisy bar"], "tags": tags}), "table.parquet")
print("pyarrow", pq.read_table("table.parquet", columns=["tags"])["tags"].to_pylist()[0])
for columns in (None, ["text"]):
    try:
        read = datasets.Dataset.from_parquet("table.parquet", columns=columns)
        print("datasets", columns, read.column_names)
    except Exception as error:
        while error.__cause__:
            error = error.__cause__
        print("datasets", columns, type(error).__name__)
read = datasets.Dataset(pq.read_table("table.parquet", columns=["text"]))
print("by pyarrow", read["text"][0])
PY
venv/bin/python try.py 2> log | tee seen
diff seen - <<'OUT'
pyarrow [('mood', 'good')]
datasets None ValueError
datasets ['text'] ValueError
by pyarrow a quiet room
OUT
