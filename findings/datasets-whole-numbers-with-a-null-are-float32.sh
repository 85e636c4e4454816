#!/usr/bin/env bash
# Seen 2026-11-28 with Python 3.11, datasets 5.2.0, pyarrow 26.0.1, numpy 2.4.6 and pandas 3.1.1.
# Behaviour: under with_format("numpy"), a batch of an int64 column that has a null comes as float32, so that ids above
# 2^24 fall together; under "pandas" it is float64. Batches without a null are int64 under both.
# One would guess: float64 at worst, as of numpy and pandas themselves, and one type for a column.
# Who meets it: whoever takes batches of ids, of which some are missing. Way out: the format "arrow", or
# none, gives whole numbers and None.
# Output seen:
#   numpy int64 [20000001, 20000002]
#   numpy float32 [nan, 20000004.0]
#   pandas int64 [20000001, 20000002]
#   pandas float64 [nan, 20000005.0]
#   none list [20000001, 20000002]
#   none list [None, 20000005]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HF_HOME=$work/home
python3 -m venv venv
venv/bin/pip install -q datasets==5.2.0 pyarrow==26.0.1 numpy==2.4.6 pandas==3.1.1 2> log || { cat log >&2; exit 2; }
cat > try.py <<'PY'
import datasets
import pyarrow as pa

datasets.disable_progress_bars()
ids = pa.array([20000001, 20000002, None, 20000005], pa.int64())
data = datasets.Dataset(pa.table({"id": ids}))


for form in ("numpy", "pandas", None):
    formatted = data.with_format(form) if form else data
    for batch in formatted.iter(batch_size=2):
        column = batch["id"]
        kind = getattr(column, "dtype", type(column).__name__)
        values = column.tolist() if hasattr(column, "tolist") else list(column)
        print(form or "none", kind, values)
PY
venv/bin/python try.py 2> log | tee seen
diff seen - <<'OUT'
numpy int64 [20000001, 20000002]
numpy float32 [nan, 20000004.0]
pandas int64 [20000001, 20000002]
pandas float64 [nan, 20000005.0]
none list [20000001, 20000002]
none list [None, 20000005]
OUT
