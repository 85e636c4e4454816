#!/usr/bin/env bash
# Seen 2026-11-28 with Python 3.11, Java 17, pyspark 4.3.0, pandas 3.1.1 and pyarrow 26.0.1.
# Behaviour: mapInPandas hands one bigint column over as int64 in batches without a null, and as pandas' Int64 in batches
# with one: the type depends on the rows that fall into a batch, so on partition and batch size.
# One would guess: one type for the column, as mapInArrow has; or float64 where a null is, as pandas alone makes of it.
# Who meets it: a function that looks at dtypes, or at type(value): the values are of numpy under both, a null is NaN in
# neither but pandas.NA.
# Output seen:
#   a int64
#   b int64
#   c Int64
#   d Int64
#   e int64
#   f int64
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v java > /dev/null || { echo "needs Java 17" >&2; exit 2; }
python3 -m venv venv
venv/bin/pip install -q pyspark==4.3.0 pandas==3.1.1 pyarrow==26.0.1 2> log || { cat log >&2; exit 2; }
cat > try.py <<'PY'
import os
import sys

os.environ["PYSPARK_PYTHON"] = sys.executable
import pandas as pd
import pyarrow as pa
import pyspark.sql

spark = (pyspark.sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
         .config("spark.sql.execution.arrow.maxRecordsPerBatch", "2").getOrCreate())
ids = pa.array([1, 2, None, 4, 5, 6], pa.int64())
table = spark.createDataFrame(pa.table({"id": ids, "row": list("abcdef")})).coalesce(1)


def kinds(batches):
    for batch in batches:
        yield pd.DataFrame({"row": batch["row"], "kind": str(batch["id"].dtype)})


for row in table.mapInPandas(kinds, "row string, kind string").collect():
    print(row.row, row.kind)
spark.stop()
PY
venv/bin/python try.py 2> log | tee seen
diff seen - <<'OUT'
a int64
b int64
c Int64
d Int64
e int64
f int64
OUT
