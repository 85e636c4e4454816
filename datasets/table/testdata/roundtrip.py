"""Round trips of the files of others: roundtrip.py MLDP FOLDER

pandas, polars, pyarrow, DuckDB and datasets write tables, MLDP privatises the column
text, and the libraries read what came out: the values, types and nulls of all other
columns, the order and number of rows, and which texts are missing or empty are as they
were, and no original text is left. Exit code 1 where something is not.
"""
import csv
import datetime
import decimal
import json
import os
import pathlib
import subprocess
import sys

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
SECRET = "zanzibarian"  # no word of the vectors: it is always replaced
WORDS = "alpha beta gamma delta epsilon zeta".split()
ROWS = 40
failed = []


def texts():
    """Texts, with missing and empty ones, quotes and line ends of all kinds."""
    kinds = [f"alpha {SECRET} beta", None, "", f'he said "{SECRET}", twice', f"one\n{SECRET} two", f"one\r\n{SECRET}\r\n",
             f"gamma, {SECRET}; delta", f"  {SECRET} ünï 😀 "]
    return [kinds[i % len(kinds)] for i in range(ROWS)]


def plain():
    """Columns that every format can hold."""
    codes = ["007", "", None, "1e5", "NA", "x,y", 'q"q', "a\r\nb"]
    return {"id": list(range(ROWS)), "text": texts(), "code": [codes[i % len(codes)] for i in range(ROWS)],
            "score": [None if i % 7 == 3 else i / 8 for i in range(ROWS)]}


def typed():
    """A table with many types of columns."""
    day = datetime.date(2024, 2, 29)
    moment = datetime.datetime(2024, 2, 29, 23, 59, 59, 123456)
    some = lambda f, every=5: [None if i % every == 2 else f(i) for i in range(ROWS)]
    columns = {name: pa.array(values) for name, values in plain().items()}
    columns |= {
        "half": pa.array(some(lambda i: np.float16(i / 4)), pa.float16()),
        "halves": pa.array(some(lambda i: [np.float16(i)] * (i % 3)), pa.list_(pa.float16())),
        "small": pa.array(some(lambda i: i - 20), pa.int8()),
        "large": pa.array(some(lambda i: 2**64 - 1 - i), pa.uint64()),
        "flag": pa.array(some(lambda i: i % 2 == 0), pa.bool_()),
        "day": pa.array(some(lambda i: day + datetime.timedelta(i)), pa.date32()),
        "when": pa.array(some(lambda i: moment + datetime.timedelta(seconds=i)), pa.timestamp("us", "Europe/Vienna")),
        "clock": pa.array(some(lambda i: moment.time()), pa.time64("us")),
        "price": pa.array(some(lambda i: decimal.Decimal(i) / 100), pa.decimal128(12, 2)),
        "bytes": pa.array(some(lambda i: bytes([255, i, 0])), pa.binary()),
        "fixed": pa.array(some(lambda i: bytes([i] * 4)), pa.binary(4)),
        "nothing": pa.nulls(ROWS),
        "category": pa.DictionaryArray.from_arrays(pa.array([i % 2 for i in range(ROWS)], pa.int8()), ["z", "a", "unused"]),
        "list": pa.array(some(lambda i: [[], [i], [i, None]][i % 3]), pa.list_(pa.int64())),
        "struct": pa.array(some(lambda i: {"a": i, "b": None if i % 2 else "x"}),
                           pa.struct([("a", pa.int64()), ("b", pa.string())])),
        "map": pa.array(some(lambda i: [("k", i)]), pa.map_(pa.string(), pa.int64())),
        "deep": pa.array(some(lambda i: [{"text": "kept", "n": [i]}]),
                         pa.list_(pa.struct([("text", pa.string()), ("n", pa.list_(pa.int32()))]))),
    }
    return pa.table(columns)


def same(name, what, wanted, got):
    if wanted != got and repr(wanted) != repr(got):
        if name not in failed:
            print(f"{name}: {what}: wanted {wanted!r:.300}, got {got!r:.300}")
        failed.append(name)


def changed(name, before, after):
    """Texts that are missing or empty stay so, and all others are changed."""
    kind = lambda t: "missing" if t is None else "empty" if t == "" else "a text"
    same(name, "texts", list(map(kind, before)), list(map(kind, after)))
    same(name, "original texts left", [], [t for t in after if t and SECRET in t])


def rows(name, before, after):
    same(name, "number of rows", len(before), len(after))
    changed(name, [r["text"] for r in before], [r["text"] for r in after])
    without = lambda table: [{k: v for k, v in r.items() if k != "text"} for r in table]
    for number, (b, a) in enumerate(zip(without(before), without(after))):
        same(name, f"row {number}", b, a)


def privatised(name, *options):
    out = FOLDER / ("private-" + name)
    done = subprocess.run([PROGRAM, "--quiet", "privatize", "--mechanism", "santext", "--epsilon", "0.01", "--embedding",
                           FOLDER / "vectors.txt", "--column", "text", *options, FOLDER / name, "-o", out],
                          capture_output=True, text=True)
    if done.returncode:
        failed.append(name)
        print(f"{name}: exit code {done.returncode}: {done.stderr}")
        return None
    return out


def attempt(read, file):
    """What a library reads, or that it cannot read a file: some lack a type."""
    try:
        return read(file)
    except Exception as e:  # whatever they raise, they raise it for both files
        return f"{type(e).__name__} while reading"


def both(name, what, read, before, after):
    same(name, what, attempt(read, before), attempt(read, after))


def frames(name, before, after):
    b, a = (attempt(pd.read_parquet, f) for f in (before, after))
    if isinstance(b, str) or isinstance(a, str):
        return same(name, "pandas", str(b), str(a))
    try:
        pd.testing.assert_frame_equal(b.drop(columns="text"), a.drop(columns="text"))
    except AssertionError as e:
        same(name, "pandas", "equal frames", str(e))


def parquet(name, write):
    """write writes a Parquet file; all libraries read what becomes of it."""
    before = FOLDER / name
    write(before)
    after = privatised(name)
    if after is None:
        return
    b, a = pq.read_table(before), pq.read_table(after)
    same(name, "schema", b.schema.to_string(show_field_metadata=True), a.schema.to_string(show_field_metadata=True))
    same(name, "metadata", b.schema.metadata, a.schema.metadata)
    same(name, "schema of Parquet", str(pq.read_schema(before)), str(pq.read_schema(after)))
    same(name, "schema of Parquet", *(str(pq.ParquetFile(f).schema).split("\n", 1)[1] for f in (before, after)))
    same(name, "row groups", *([m.row_group(g).num_rows for g in range(m.num_row_groups)]
                               for m in (pq.read_metadata(before), pq.read_metadata(after))))
    rows(name, b.to_pylist(), a.to_pylist())
    a.validate(full=True)
    for column in b.column_names:
        if pa.types.is_dictionary(b[column].type) and column != "text" and b.num_rows:
            same(name, "categories of " + column, *(t[column].chunk(0).dictionary.to_pylist() for t in (b, a)))
    if SECRET.encode() in after.read_bytes():
        failed.append(name)
        print(f"{name}: the original text is in the file")
    read = lambda f: duckdb.sql(f"select * from read_parquet('{f}')")
    at = b.column_names.index("text")
    both(name, "types in DuckDB", lambda f: str(read(f).types), before, after)
    both(name, "rows in DuckDB", lambda f: [repr(r[:at] + r[at + 1:]) for r in read(f).fetchall()], before, after)
    for library in (pl.read_parquet, pl.scan_parquet):
        polars = lambda f: library(f).lazy().collect().drop("text")
        both(name, "schema in polars", lambda f: polars(f).schema, before, after)
        both(name, "rows in polars", lambda f: polars(f).to_dicts(), before, after)
    frames(name, before, after)
    both(name, "datasets", lambda f: datasets.Dataset.from_parquet(
        str(f), cache_dir=str(FOLDER / "cache")).remove_columns("text").to_list(), before, after)


def parquet_files():
    table = typed()
    flat = pa.table(plain())
    for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
        parquet(f"arrow-{codec}.parquet", lambda f: pq.write_table(table, f, compression=codec, row_group_size=17))
    parquet("arrow-no-dictionary.parquet", lambda f: pq.write_table(table, f, use_dictionary=False))
    parquet("arrow-pages-2.parquet", lambda f: pq.write_table(table, f, data_page_version="2.0", data_page_size=64))
    parquet("arrow-index.parquet", lambda f: pq.write_table(table, f, write_page_index=True, write_page_checksum=True,
                                                            store_decimal_as_integer=True))
    parquet("arrow-sorted.parquet", lambda f: pq.write_table(table, f, sorting_columns=[
        pq.SortingColumn(0), pq.SortingColumn(1)]))
    parquet("arrow-old.parquet", lambda f: pq.write_table(flat, f, version="1.0", use_deprecated_int96_timestamps=True))
    for encoding in ("PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"):
        parquet(f"arrow-{encoding}.parquet", lambda f: pq.write_table(
            flat, f, use_dictionary=False, column_encoding={"text": encoding, "id": "DELTA_BINARY_PACKED",
                                                            "score": "BYTE_STREAM_SPLIT", "code": encoding}))
    parquet("arrow-required.parquet", lambda f: pq.write_table(pa.table(
        {"id": [1, 2], "text": ["alpha", SECRET]}, schema=pa.schema([("id", pa.int64()),
                                                                     pa.field("text", pa.string(), nullable=False)])), f))
    parquet("arrow-large-string.parquet", lambda f: pq.write_table(
        flat.set_column(1, "text", flat["text"].cast(pa.large_string())), f))
    parquet("arrow-text-as-dictionary.parquet", lambda f: pq.write_table(
        flat.set_column(1, "text", flat["text"].dictionary_encode()), f))
    parquet("arrow-no-rows.parquet", lambda f: pq.write_table(table.slice(0, 0), f))
    parquet("arrow-no-groups.parquet", lambda f: pq.ParquetWriter(f, flat.schema).close())

    def with_empty_groups(f):
        with pq.ParquetWriter(f, flat.schema) as w:
            for part in (flat.slice(0, 0), flat.slice(0, 3), flat.slice(0, 0), flat.slice(3), flat.slice(0, 0)):
                w.write_table(part)
    parquet("arrow-empty-groups.parquet", with_empty_groups)

    frame = flat.to_pandas()
    frame["category"] = pd.Categorical(["z", "a"] * (ROWS // 2), categories=["unused", "z", "a"], ordered=True)
    frame["when"] = pd.Timestamp("2024-02-29", tz="UTC") + pd.to_timedelta(range(ROWS), "h")
    frame["nothing"] = None
    parquet("pandas.parquet", lambda f: frame.to_parquet(f))
    parquet("pandas-index.parquet", lambda f: frame.set_index("id").to_parquet(f))
    parquet("pandas-partly.parquet", lambda f: frame[frame.score > 2].to_parquet(f, compression=None))

    lazy = pl.from_arrow(table.drop(["map", "nothing"])).with_columns(
        pl.Series("enum", ["b", "a"] * (ROWS // 2), pl.Enum(["c", "b", "a"])), pl.lit(None).alias("nothing"),
        pl.Series("span", [datetime.timedelta(i) for i in range(ROWS)]))
    parquet("polars.parquet", lambda f: lazy.write_parquet(f))
    parquet("polars-groups.parquet", lambda f: lazy.write_parquet(f, row_group_size=7, compression="snappy"))

    duckdb.register("flat", flat)
    select = "select *, {'a': id, 'b': [code]} as nested, uuid() as u, hugeint '1' as h from flat"
    for version in ("v1", "v2"):
        parquet(f"duckdb-{version}.parquet", lambda f: duckdb.sql(
            f"copy ({select}) to '{f}' (format parquet, parquet_version {version}, row_group_size 2048)"))
    parquet("datasets.parquet", lambda f: datasets.Dataset.from_dict(
        plain() | {"label": [i % 2 for i in range(ROWS)], "empty": [[] for _ in range(ROWS)]}).cast_column(
            "label", datasets.ClassLabel(names=["no", "yes"])).to_parquet(str(f)))


def csv_readers(path, options):
    """The columns as texts, with None for what is missing, by the readers that tell it from "" ."""
    types = {name: pa.string() for name in ("id", "text", "code", "score")}
    yield "pyarrow", pyarrow.csv.read_csv(
        path, parse_options=pyarrow.csv.ParseOptions(delimiter=options.get("sep", ","), newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""],
                                                   quoted_strings_can_be_null=False)).to_pylist()
    yield "polars", pl.read_csv(path, infer_schema=False, separator=options.get("sep", ",")).to_dicts()
    yield "pandas", pd.read_csv(path, dtype=str, keep_default_na=False, sep=options.get("sep", ",")).to_dict("records")


def inferred(path):
    return pl.read_csv(path).drop("text").schema, str(duckdb.read_csv(str(path)).types)


def table_file(name, write, options=(), sep=","):
    write(FOLDER / name)
    after = privatised(name, *options)
    if after is None:
        return
    readers = zip(csv_readers(FOLDER / name, {"sep": sep}), csv_readers(after, {"sep": sep}))
    for (library, b), (_, a) in readers:
        rows(f"{name} by {library}", b, a)
    raw = lambda f: list(csv.reader(open(f, newline="", encoding="utf-8"), delimiter=sep))
    same(name, "records", *([r[:1] + r[2:] for r in raw(f)] for f in (FOLDER / name, after)))
    if sep == ",":
        same(name, "types that are found", inferred(FOLDER / name), inferred(after))


def csv_files():
    frame = pd.DataFrame(plain())
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC):
        table_file(f"pandas-{quoting}.csv", lambda f: frame.to_csv(f, index=False, quoting=quoting))
    table_file("pandas-crlf.csv", lambda f: frame.to_csv(f, index=False, lineterminator="\r\n"))
    table_file("pandas-mark.csv", lambda f: frame.to_csv(f, index=False, encoding="utf-8-sig"))
    table_file("pandas-semicolon.csv", lambda f: frame.to_csv(f, index=False, sep=";"), ("--delimiter", ";"), ";")
    one = lambda t: t and t.replace("\r", " ").replace("\n", " ").replace('"', "'")
    lines = frame.assign(text=[one(t) for t in plain()["text"]], code=[one(t) for t in plain()["code"]])
    table_file("pandas.tsv", lambda f: lines.to_csv(f, index=False, sep="\t", quoting=csv.QUOTE_NONE), sep="\t")
    polars = pl.DataFrame(plain())
    for style in ("necessary", "always", "non_numeric"):
        table_file(f"polars-{style}.csv", lambda f: polars.write_csv(f, quote_style=style))
    table_file("arrow.csv", lambda f: pyarrow.csv.write_csv(pa.table(plain()), f))
    duckdb.register("plain", pa.table(plain()))
    table_file("duckdb.csv", lambda f: duckdb.sql(f"copy plain to '{f}' (header)"))
    table_file("datasets.csv", lambda f: datasets.Dataset.from_dict(plain()).to_csv(str(f)))
    # A table of one column, in which a missing text is an empty line.
    for name, write in (("polars", lambda f: polars.select("text").write_csv(f)),
                        ("arrow", lambda f: pyarrow.csv.write_csv(pa.table(plain()).select(["text"]), f)),
                        ("pandas", lambda f: frame[["text"]].to_csv(f, index=False))):
        file = f"{name}-one.csv"
        write(FOLDER / file)
        after = privatised(file)
        if after is not None:
            changed(file, *(pl.read_csv(f, infer_schema=False)["text"].to_list() for f in (FOLDER / file, after)))


def json_files():
    values = plain()
    polars, arrow = pl.DataFrame(values), pa.table(values)
    lines = lambda f: [json.loads(line) for line in open(f, encoding="utf-8") if line.strip()]
    array = lambda f: json.load(open(f, encoding="utf-8"))
    duckdb.register("arrow", arrow)
    for name, write, read in (
            ("pandas.jsonl", lambda f: arrow.to_pandas().to_json(f, orient="records", lines=True), lines),
            ("pandas.json", lambda f: arrow.to_pandas().to_json(f, orient="records", indent=1, force_ascii=False), array),
            ("polars.jsonl", lambda f: polars.write_ndjson(f), lines),
            ("polars.json", lambda f: polars.write_json(f), array),
            ("duckdb.jsonl", lambda f: duckdb.sql(f"copy arrow to '{f}' (format json)"), lines),
            ("duckdb.json", lambda f: duckdb.sql(f"copy arrow to '{f}' (format json, array true)"), array),
            ("datasets.jsonl", lambda f: datasets.Dataset.from_dict(values).to_json(str(f)), lines)):
        write(FOLDER / name)
        after = privatised(name)
        if after is not None:
            rows(name, read(FOLDER / name), read(after))


def main():
    datasets.disable_progress_bars()
    os.makedirs(FOLDER, exist_ok=True)
    with open(FOLDER / "vectors.txt", "w") as f:
        for i, word in enumerate(WORDS):
            print(word, np.sin(i), np.cos(i), i / 7, file=f)
    parquet_files()
    csv_files()
    json_files()
    if failed:
        sys.exit(f"{len(set(failed))} files did not come back: {' '.join(sorted(set(failed)))}")
    print("all files came back")


main()
