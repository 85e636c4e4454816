"""The workers of a machine share one process of mldp, and their texts are those of a process of one's own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import mldpbench
from mldpbench import MldpError, _mapper

TABLE: dict[str, list[Any]] = {"id": [1, 2, 3], "body": ["the food was superb", "the food was superb", "a bad film"]}
WORKER = """
import json, sys, mldpbench
print(json.dumps(mldpbench.mapper(**json.loads(sys.argv[1]))(json.loads(sys.argv[2]))["body"]), flush=True)
sys.stdin.readline()
"""


def serving(folder: str) -> list[int]:
    """The ids of the processes that listen in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_text(encoding="utf-8", errors="replace")
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if f"--listen={folder}" in command and state != "Z":
            found.append(int(process.name))
    return found


@unittest.skipUnless(Path("/proc/self/stat").exists(), "no /proc here")
class TestShared(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.key = Path(folder.name, "release.key")
        self.key.write_bytes(b"a secret of some bytes")
        self.arguments: dict[str, Any] = {
            "mechanism": "k-rr", "epsilon": 2, "embedding": "generated", "key": str(self.key), "release": "march",
            "text": "body", "id": "id"}
        with mldpbench.Mechanism("k-rr", 2, "generated", key=self.key, release="march") as own:
            self.want = own.privatise(TABLE["body"], ids=TABLE["id"], column="body")
        patches = mock.patch.object(tempfile, "tempdir", self.folder), mock.patch.dict(_mapper._open, clear=True)
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)

    def texts(self, **named: Any) -> list[Any]:
        """Those of a mapper in this process."""
        after: list[Any] = mldpbench.mapper(**{**self.arguments, **named})(TABLE)["body"]
        return after

    def left(self, count: int) -> list[int]:
        """The processes that listen, when they are so many, or after some time."""
        end = time.monotonic() + 60
        while len(serving(self.folder)) != count and time.monotonic() < end:
            time.sleep(0.1)
        return serving(self.folder)

    def worker(self) -> subprocess.Popen[str]:
        source = Path(mldpbench.__file__).parents[1]
        env = {**os.environ, "TMPDIR": self.folder, "PYTHONPATH": str(source)}
        command = [sys.executable, "-c", WORKER, json.dumps(self.arguments), json.dumps(TABLE)]
        return subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def test_workers_share_a_process(self) -> None:
        """Three that start at once; it ends when the last has gone."""
        workers = [self.worker() for _ in range(3)]
        for worker in workers:
            assert worker.stdout is not None
            self.assertEqual(json.loads(worker.stdout.readline()), self.want)
        self.assertEqual(len(serving(self.folder)), 1, "processes of mldp for three workers")
        workers[0].kill()
        for worker in workers:
            worker.communicate()
        self.assertEqual(self.left(0), [], "processes of mldp that outlive their workers")
        self.assertEqual([*Path(self.folder).glob("*/*.socket")], [], "sockets that nobody listens to")

    def test_another_takes_its_place(self) -> None:
        """A process that dies, and a socket without one."""
        self.assertEqual(self.texts(), self.want)
        for _ in range(2):
            before = serving(self.folder)
            self.assertEqual(len(before), 1)
            os.kill(before[0], signal.SIGKILL)
            self.assertEqual(self.left(0), [])
            self.assertEqual(self.texts(), self.want)
        self.assertNotEqual(serving(self.folder), before)

    def test_a_forked_child(self) -> None:
        """It has a connection of its own; that of its parent stays."""
        self.assertEqual(self.texts(), self.want)
        child = os.fork()
        if child == 0:
            os._exit(0 if self.texts() == self.want else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0, "the child's texts are others")
        self.assertEqual(self.texts(), self.want)
        self.assertEqual(len(serving(self.folder)), 1)

    def test_what_differs_is_not_shared(self) -> None:
        """Another epsilon, and a key that was changed under its name."""
        self.assertEqual(self.texts(), self.want)
        self.texts(epsilon=3)
        self.assertEqual(len(serving(self.folder)), 2)
        self.key.write_bytes(b"another secret of some bytes")
        _mapper._open.clear()
        self.assertNotEqual(self.texts(), self.want)

    def test_errors(self) -> None:
        """One line with its exit code, each time."""
        self.key.write_bytes(b"short")
        for _ in range(2):
            with self.assertRaisesRegex(MldpError, "a key at least 16") as caught:
                self.texts()
            self.assertEqual(caught.exception.code, 2)

    def test_a_folder_of_others(self) -> None:
        """Where others could answer, each has a process of its own."""
        folder = Path(self.folder, f"mldpbench-{os.getuid()}")
        folder.mkdir()
        folder.chmod(0o777)
        self.assertEqual(self.texts(), self.want)
        self.assertEqual([*folder.iterdir()], [])
        self.assertEqual(serving(self.folder), [])


if __name__ == "__main__":
    unittest.main()
