#!/usr/bin/env bash
# Seen 2026-11-28 with Python 3.11, pandas 3.1.1, pyarrow 26.0.1 and polars 2.1.0.
# Behaviour: after rows were dropped, the Parquet file of pandas or pyarrow still has every value that a categorical
# (dictionary) column had before, also with store_schema=False, where no reader shows them. That of polars has not.
# One would guess: the values of the rows that are left, since a Parquet dictionary is made anew for each column chunk.
# Who meets it: whoever takes authors or labels out of a table before giving it away. Way out: cast to text before
# writing, or cat.remove_unused_categories().
# Output seen:
#   pandas: reads ['anna', 'bob'], carla in the file: True
#   pyarrow: reads ['anna', 'bob'], carla in the file: True
#   pyarrow without its schema: reads ['anna', 'bob'], carla in the file: True
#   polars: reads ['anna', 'bob'], carla in the file: False
#   cast to text: reads ['anna', 'bob'], carla in the file: False
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q pandas==3.1.1 pyarrow==26.0.1 polars==2.1.0 2> log || { cat log >&2; exit 2; }
cat > try.py <<'PY'
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq


def says(what):
    read = pq.read_table("table.parquet")["who"].to_pylist()
    print(f"{what}: reads {read}, carla in the file: {b'carla' in Path('table.parquet').read_bytes()}")


names = ["anna", "bob", "carla"]
frame = pd.DataFrame({"row": [1, 2, 3], "who": pd.Categorical(names)})
frame[frame["row"] < 3].to_parquet("table.parquet", compression=None)
says("pandas")
table = pa.table({"row": [1, 2, 3], "who": pa.array(names).dictionary_encode()}).filter(pc.field("row") < 3)
pq.write_table(table, "table.parquet", compression="none")
says("pyarrow")
pq.write_table(table, "table.parquet", compression="none", store_schema=False)
says("pyarrow without its schema")
polar = pl.DataFrame({"row": [1, 2, 3], "who": names}, schema_overrides={"who": pl.Categorical})
polar.filter(pl.col("row") < 3).write_parquet("table.parquet", compression="uncompressed")
says("polars")
text = table.set_column(1, "who", table["who"].cast(pa.string()))
pq.write_table(text, "table.parquet", compression="none")
says("cast to text")
PY
venv/bin/python try.py 2> log | tee seen
diff seen - <<'OUT'
pandas: reads ['anna', 'bob'], carla in the file: True
pyarrow: reads ['anna', 'bob'], carla in the file: True
pyarrow without its schema: reads ['anna', 'bob'], carla in the file: True
polars: reads ['anna', 'bob'], carla in the file: False
cast to text: reads ['anna', 'bob'], carla in the file: False
OUT
