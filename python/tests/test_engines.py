"""The same texts by id in every engine, in any number of parts, and where a task dies and is tried again.

`make engines` installs the engines of requirements-engines.txt and runs this; elsewhere it is skipped. A table of 20,000
rows, with a null, an empty and a very long text, is privatised once by `mldp privatize` on one file.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mldpbench
from mldpbench import MldpError

ROWS = 20_000
WORDS = [a + b + c for a in "bdfgklmprt" for b in "aeiou" for c in "lmnrst"]
PARTS = (1, 2, 7)
HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "examples" / "engines"))

if os.environ.get("MLDP_ENGINES"):
    import dask.dataframe
    import datasets
    import numpy
    import pandas
    import polars
    import pyarrow
    import pyarrow.parquet
    import pyspark.sql
    import ray

    FOLDER = tempfile.TemporaryDirectory()
    FILE = Path(FOLDER.name, "texts.parquet")
    VECTORS = Path(FOLDER.name, "vectors.txt")
    KEY = Path(FOLDER.name, "release.key")


def write_table() -> None:
    """Shuffled rows; ids are whole numbers."""
    noise = random.Random(1)
    VECTORS.write_text("".join(f"{w} {' '.join(f'{noise.gauss(0, 1):.4f}' for _ in range(8))}\n" for w in WORDS))
    texts: list[str | None] = [" ".join(noise.choices(WORDS, k=noise.randint(3, 9))) for _ in range(ROWS)]
    texts[1] = texts[0]
    texts[2] = None
    texts[3] = ""
    texts[4] = " ".join(noise.choices(WORDS, k=200_000))
    ids = list(range(1000, 1000 + ROWS))
    order = noise.sample(range(ROWS), ROWS)
    pyarrow.parquet.write_table(pyarrow.table({"id": [ids[i] for i in order], "body": [texts[i] for i in order],
                                               "stars": [i % 5 for i in order]}), FILE)


def mask(**named: Any) -> Any:
    given = {"mechanism": "k-rr", "epsilon": 3, "embedding": str(VECTORS), "text": "body", "key": str(KEY),
             "release": "march", "id": "id", **named}
    return mldpbench.mapper(**given)


def parts_of(table: Any, parts: int) -> list[Any]:
    """Slices of a pyarrow table."""
    size = -(-len(table) // parts)
    return [table.slice(part * size, size) for part in range(parts)]


@unittest.skipUnless(os.environ.get("MLDP_ENGINES"), "make engines runs this")
class Engines(unittest.TestCase):
    before: Any  # the table
    want: dict[int, str | None]

    @classmethod
    def setUpClass(cls) -> None:
        write_table()
        program = mldpbench.program()
        subprocess.run([program, "key", "-o", str(KEY)], check=True)
        private = Path(FOLDER.name, "private.parquet")
        subprocess.run([program, "privatize", "--quiet", "--mechanism", "k-rr", "--epsilon", "3", "--embedding",
                        str(VECTORS), "--key", str(KEY), "--release", "march", "--id", "id", "--column", "body",
                        str(FILE), "-o", str(private)], check=True)
        after = pyarrow.parquet.read_table(private)
        cls.want = dict(zip(after["id"].to_pylist(), after["body"].to_pylist()))
        cls.before = pyarrow.parquet.read_table(FILE)

    @classmethod
    def tearDownClass(cls) -> None:
        FOLDER.cleanup()

    def check(self, what: str, ids: Any, texts: Any) -> None:
        """Every row has the text that the file has."""
        got = dict(zip((int(i) for i in ids), texts))
        self.assertEqual(len(got), ROWS, f"{what}: rows")
        other = [i for i, text in self.want.items() if (None if _is_null(got[i]) else got[i]) != text]
        self.assertEqual(other, [], f"{what}: ids of rows with another text than in the file")

    def test_file(self) -> None:
        """The file itself is private, and equal texts of two rows are not."""
        before = dict(zip(self.before["id"].to_pylist(), self.before["body"].to_pylist()))
        self.assertEqual(before[1000], before[1001])
        self.assertNotEqual(self.want[1000], self.want[1001])
        self.assertEqual([self.want[1002], self.want[1003]], [None, ""])
        same = sum(before[i] == text for i, text in self.want.items())
        self.assertLess(same, ROWS / 100, "texts that came back unchanged")

    def test_pandas(self) -> None:
        for parts in PARTS:
            for index in (None, "id"):
                tables = [part.to_pandas() for part in parts_of(self.before, parts)]
                after = pandas.concat(table.pipe(mask()) for table in tables)
                self.check(f"pandas, {parts} parts, {index}", after["id"], after["body"])
                self.assertEqual(list(after.columns), ["id", "body", "stars"])

    def test_pipeline(self) -> None:
        table = self.before.to_pandas()
        step = mldpbench.Privatizer("k-rr", 3, str(VECTORS), key=str(KEY), release="march", text="body", id="id")
        self.check("Privatizer", table["id"], step.fit_transform(table))

    def test_arrow(self) -> None:
        for parts in PARTS:
            after = pyarrow.concat_tables([mask()(part) for part in parts_of(self.before, parts)])
            self.assertEqual(after.schema, self.before.schema)
            self.check(f"pyarrow, {parts} parts", after["id"].to_pylist(), after["body"].to_pylist())

    def test_polars(self) -> None:
        for parts in PARTS:
            frames = [polars.from_arrow(part) for part in parts_of(self.before, parts)]
            after = polars.concat([frame.lazy().map_batches(mask()).collect() for frame in frames])
            self.check(f"polars, {parts} parts", after["id"], after["body"])

    def test_datasets(self) -> None:
        data = datasets.Dataset.from_parquet(str(FILE), cache_dir=FOLDER.name)
        for parts in PARTS:
            after = data.map(mask(), batched=True, num_proc=parts, batch_size=1000, load_from_cache_file=False)
            self.check(f"datasets, {parts} parts", after["id"], after["body"])

    def test_dask(self) -> None:
        table = self.before.to_pandas()
        for parts in PARTS:
            frame = dask.dataframe.from_pandas(table, npartitions=parts)
            after = frame.map_partitions(mask(), meta=frame._meta).compute(scheduler="processes", num_workers=2)
            self.check(f"dask, {parts} parts", after["id"], after["body"])

    def test_ray(self) -> None:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False,
                 runtime_env={"env_vars": {"PYTHONPATH": str(HERE.parent), "MLDP": mldpbench.program()}})
        try:
            for parts in PARTS:
                for kind in ("pandas", "pyarrow", "numpy"):
                    killed = _Killed(mask(), Path(FOLDER.name, f"ray-{parts}-{kind}"))
                    data = ray.data.from_arrow(parts_of(self.before, parts))
                    after = data.map_batches(killed, batch_format=kind, batch_size=None).to_pandas()
                    self.check(f"ray, {parts} parts, {kind}", after["id"], after["body"])
        finally:
            ray.shutdown()

    def test_spark(self) -> None:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        session = (pyspark.sql.SparkSession.builder.master("local[2, 3]").config("spark.ui.enabled", "false")
                   .config("spark.executorEnv.PYTHONPATH", str(HERE.parent)).getOrCreate())
        try:
            for parts in PARTS:
                data = session.read.parquet(str(FILE)).repartition(parts)
                for kind in ("mapInPandas", "mapInArrow"):
                    killed = _Killed(mask(), Path(FOLDER.name, f"spark-{parts}-{kind}"))
                    after = getattr(data, kind)(killed, schema=data.schema).collect()
                    self.check(f"spark, {parts} parts, {kind}", [r["id"] for r in after], [r["body"] for r in after])
        finally:
            session.stop()

    def test_datatrove(self) -> None:
        import datatrove.data
        import datatrove_step

        of_mapper = {"mechanism": "k-rr", "epsilon": 3, "embedding": str(VECTORS), "key": str(KEY), "release": "march"}
        rows = [row for row in self.before.to_pylist() if row["body"] is not None]
        documents = [datatrove.data.Document(row["body"], str(row["id"])) for row in rows]
        first = [*datatrove_step.Privatise(**of_mapper).run(iter(documents))]
        after = {document.id: document.text for document in first}
        backwards = [datatrove.data.Document(row["body"], str(row["id"])) for row in reversed(rows)]
        again = {document.id: document.text for document in datatrove_step.Privatise(**of_mapper).run(iter(backwards))}
        self.assertEqual(after, again)
        self.assertEqual(len(after), len(rows))
        same = sum(after[str(row["id"])] == row["body"] for row in rows)
        self.assertLess(same, ROWS / 100, "texts that came back unchanged")

    def test_presidio(self) -> None:
        import presidio_rest
        from presidio_anonymizer.entities import RecognizerResult

        text = "bal dim Alice ran, for kun"
        found = [RecognizerResult("PERSON", 8, 13, 0.9)]
        with mldpbench.Mechanism("k-rr", 0.01, str(VECTORS), key=KEY) as mechanism:
            first = presidio_rest.private(text, found, mechanism, 7)
            self.assertEqual(presidio_rest.private(text, found, mechanism, 7), first)
            self.assertNotEqual(presidio_rest.private(text, found, mechanism, 8), first)
        self.assertRegex(first, r"^[a-z]+ [a-z]+ <PERSON> [a-z]+, [a-z]+ [a-z]+$")

    def test_without_a_key(self) -> None:
        """Equal rows are never drawn alike: 12 words among 300 are the same by chance once in 10^29."""
        texts = [" ".join(WORDS[:12])] * 2000
        draw = mask(key=None, id=None, release=None, epsilon=0.01)
        table = pandas.DataFrame({"body": texts})
        after = [*table.pipe(draw)["body"], *table.pipe(draw)["body"]]
        frame = dask.dataframe.from_pandas(table, npartitions=7)
        after += [*frame.map_partitions(draw, meta=frame._meta).compute(scheduler="processes", num_workers=2)["body"]]
        data = datasets.Dataset.from_dict({"body": texts})
        after += [*data.map(draw, batched=True, num_proc=2, batch_size=100, load_from_cache_file=False)["body"]]
        self.assertEqual(len(set(after)), 8000, "different texts of 8000 draws")

    def test_numpy_texts(self) -> None:
        """A column of texts of one length gets room for longer ones."""
        table = {"body": numpy.array(["bal", "dim"]), "id": numpy.array([1, 2])}
        after = mask(epsilon=0.01)(table)
        self.assertEqual(after["body"].dtype.kind, "U")
        self.assertEqual(len(after["body"]), 2)

    def test_worker_without_the_program(self) -> None:
        command = ("import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb'))({'id': [1], 'body': ['bal']}))")
        pickled = Path(FOLDER.name, "mapper.pickle")
        import pickle

        pickled.write_bytes(pickle.dumps(mask()))
        env = {**os.environ, "PYTHONPATH": str(HERE.parent), "MLDP": str(Path(FOLDER.name, "no-such-program"))}
        ran = subprocess.run([sys.executable, "-c", command, str(pickled)], check=False, env=env,
                             capture_output=True, text=True)
        last = ran.stderr.strip().splitlines()[-1]
        self.assertIn("no-such-program", last)
        self.assertIn("MldpError", last)

    def test_wrong_tables(self) -> None:
        for table, said in (({"body": ["a"]}, "no column 'id'"), ({"id": [1.5], "body": ["bal"]}, "ids[0] = 1.5"),
                            ({"id": [1, 1], "body": ["bal", "bal"]}, "is that of an earlier text"),
                            (["bal"], "must be a table")):
            with self.assertRaises(MldpError) as caught:
                mask()(table)
            self.assertIn(said, str(caught.exception))


class _Killed:
    """A function of tables whose first process dies after its work: the engine tries the task again."""

    def __init__(self, function: Any, mark: Path) -> None:
        self._function = function
        self._mark = mark

    def __call__(self, table: Any) -> Any:
        after = self._function(table)
        if isinstance(after, Iterator):
            after = list(after)
        try:
            self._mark.touch(exist_ok=False)
        except FileExistsError:
            return iter(after) if isinstance(after, list) else after
        os._exit(1)


def _is_null(value: Any) -> bool:
    return bool(pandas.isna(value))


if __name__ == "__main__":
    unittest.main()
