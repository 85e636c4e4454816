"""Tests of bench/bench.py where there is nothing to measure: it ends with one line."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent.parent.parent / "bench" / "bench.py"


class TestBench(unittest.TestCase):
    def test_no_folder(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            missing = Path(folder).resolve() / "missing"
            done = subprocess.run([sys.executable, str(FILE), "--data", str(missing)], capture_output=True, check=False,
                                  text=True)
        self.assertEqual(done.stderr, f"bench.py: no data in {missing}: name their folder in MLDP_DATA or --data\n")
        self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_no_figures(self) -> None:
        """A benchmark that skips for want of its data prints no figure."""
        spec = importlib.util.spec_from_file_location("bench", FILE)
        assert spec is not None and spec.loader is not None
        bench: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(bench)
        measure = bench.go_figure("true", ".", "^BenchmarkSearch$", "8x", "queries/s", max)
        with self.assertRaises(SystemExit) as ended:
            measure(bench.environment("/nowhere"))
        self.assertEqual(ended.exception.code, "bench.py: ^BenchmarkSearch$ measured nothing: are the data in /nowhere? "
                         "Name them in MLDP_DATA")


if __name__ == "__main__":
    unittest.main()
