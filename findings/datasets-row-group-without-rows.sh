#!/usr/bin/env bash
# Seen 2026-11-28 with Python 3.11, datasets 5.2.0 and pyarrow 26.0.1.
# Behaviour: a Parquet file whose first row group has no rows, which pyarrow writes and reads, is refused by
# Dataset.from_parquet, though the file has rows.
# One would guess: the rows of the other groups.
# Who meets it: whoever filters a table batch by batch and writes each batch as a row group. Way out: drop empty batches.
# Output seen:
#   pyarrow reads 2 rows
#   datasets: BatchSize must be greater than 0, got 0
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
full = pa.table({"text": ["a quiet room", "a noisy bar"]})
with pq.ParquetWriter("table.parquet", full.schema) as writer:
    writer.write_table(full.slice(0, 0))
    writer.write_table(full)
print("pyarrow reads", pq.read_table("table.parquet").num_rows, "rows")
try:
    print("datasets reads", len(datasets.Dataset.from_parquet("table.parquet")), "rows")
except Exception as error:
    while error.__cause__:
        error = error.__cause__
    print("datasets:", str(error).splitlines()[0])
PY
venv/bin/python try.py 2> log | tee seen
diff seen - <<'OUT'
pyarrow reads 2 rows
datasets: BatchSize must be greater than 0, got 0
OUT
