"""Several callers of one mechanism: every text comes back as the private text of that text, or the call fails.

At epsilon 300 SanText returns each word itself, so a text that belongs to another row is seen. MLDP_LONG makes the
10,000 calls of `make long`.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import gc
import importlib.util
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable
from unittest import mock

import mldpbench
from mldpbench import MldpError
from mldpbench._service import Process

CALLS = 10_000 if os.environ.get("MLDP_LONG") else 400
CALLERS = 4
LONGEST = 1200  # seconds until a call that hangs is an error with its traceback

WORDS = [a + b + "n" for a in "bdfgklmprt" for b in "aeiou"]
FOLDER = tempfile.TemporaryDirectory()
VECTORS = Path(FOLDER.name, "vectors.txt")


def setUpModule() -> None:
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    noise = random.Random(1)
    VECTORS.write_text("".join(f"{w} {' '.join(f'{noise.gauss(0, 1):.4f}' for _ in range(8))}\n" for w in WORDS))


def tearDownModule() -> None:
    faulthandler.cancel_dump_traceback_later()
    FOLDER.cleanup()


def made(**named: Any) -> mldpbench.Mechanism:
    return mldpbench.Mechanism("santext", 300, str(VECTORS), **named)


def process(m: mldpbench.Mechanism) -> Process:
    """The process of a mechanism, which has one."""
    running = m._process
    assert isinstance(running, Process)
    return running


def rows(call: int) -> list[str]:
    """One to three texts that no other call has."""
    noise = random.Random(call)
    return [" ".join(noise.choices(WORDS, k=noise.randint(3, 9))) for _ in range(1 + call % 3)]


def wrong(m: mldpbench.Mechanism, calls: Sequence[int]) -> list[tuple[list[str], list[str]]]:
    """Calls whose answers are not their own."""
    found = []
    for call in calls:
        answer = m.privatise(rows(call))
        if answer != rows(call):
            found.append((rows(call), answer))
    return found


def in_a_fork(do: Callable[[], object]) -> int:
    """The process number of a child that ends with 0 where the result is true."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if do() else 2
        finally:
            os._exit(code)
    return pid


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Late(Exception):
    """Is raised by a signal."""


class TestCallers(unittest.TestCase):
    def test_threads(self) -> None:
        found: list[Any] = []
        with made() as m:
            threads = [threading.Thread(target=lambda i=i: found.extend(wrong(m, range(i, CALLS, CALLERS))))
                       for i in range(CALLERS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(found, [], "rows got texts of other rows")
            words = sum(len(text.split()) for call in range(CALLS) for text in rows(call))
            self.assertEqual(m.words, words, "the mechanism counts the words of all threads")

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_forked_processes(self) -> None:
        """Children, their parent, and another thread of the parent that is in a call while it forks."""
        with made() as m:
            parent = process(m).pid
            found: list[Any] = []
            busy = threading.Thread(target=lambda: found.extend(wrong(m, range(CALLS // 4))))
            busy.start()

            def right(first: int) -> bool:
                return wrong(m, range(first, CALLS, CALLERS)) == [] and process(m).pid != parent
            children = [in_a_fork(functools.partial(right, i)) for i in range(CALLERS)]
            found += wrong(m, range(CALLS // 4))
            codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
            busy.join()
            self.assertEqual(codes, [0] * CALLERS, "exit codes of children, 2 where a row got another row's text")
            self.assertEqual(found, [], "rows of the parent got texts of other rows")
            self.assertEqual(process(m).pid, parent, "the parent keeps its process")

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_pool(self) -> None:
        """A pool of processes that fork, whose errors come back too."""
        global shared
        with made() as shared, multiprocessing.get_context("fork").Pool(CALLERS) as pool:
            answers = pool.map_async(of_shared, range(CALLS), chunksize=7).get(LONGEST)
            self.assertEqual([a for a in answers if a], [], "rows got texts of other rows")
            with self.assertRaisesRegex(MldpError, r"texts\[0\] is None") as raised:
                pool.map_async(shared.privatise, [[None]]).get(60)
            self.assertEqual(raised.exception.code, 2)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_child_that_stays(self) -> None:
        """The pipes of the parent end when it closes them, though a child has inherited them."""
        m = made()
        pid = process(m).pid
        child = in_a_fork(signal.pause)
        m.close()
        self.assertFalse(runs(pid), "the process runs on while a child lives")
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_child_that_ends(self) -> None:
        """A child that closes, drops or collects the mechanism ends nothing of its parent."""
        with made() as m:
            pid = process(m).pid

            def closes() -> bool:
                m.close()
                gc.collect()
                return True
            os.waitpid(in_a_fork(closes), 0)
            self.assertTrue(runs(pid), "a child ended the process of its parent")
            self.assertEqual(wrong(m, range(3)), [])

    def test_joblib(self) -> None:
        if importlib.util.find_spec("joblib") is None:
            if os.environ.get("MLDP_LONG"):
                self.fail("this Python has no joblib: pip install -r python/requirements-tests.txt")
            self.skipTest("this Python has no joblib: pip install -r python/requirements-tests.txt")
        from joblib import Parallel, delayed
        with made() as m:
            for backend in "loky", "threading", "multiprocessing":
                found = Parallel(n_jobs=CALLERS, backend=backend)(
                    delayed(wrong)(m, range(i, CALLS, 2 * CALLERS)) for i in range(2 * CALLERS))
                self.assertEqual([f for f in found if f], [], f"{backend}: rows got texts of other rows")

    @unittest.skipUnless(hasattr(signal, "setitimer"), "no timers here")
    def test_calls_ended_by_a_signal(self) -> None:
        def late(*_: Any) -> None:
            raise Late
        before = signal.signal(signal.SIGALRM, late)
        noise = random.Random(2)
        ended = 0
        answered = 0
        patient = False  # no signal in this call: starting takes longer than the longest delay
        try:
            with made() as m:
                start = time.monotonic()
                wrong(m, range(50))
                usual = (time.monotonic() - start) / 50
                for call in range(CALLS):
                    try:
                        if not patient:
                            signal.setitimer(signal.ITIMER_REAL, max(1e-6, noise.random() * 4 * usual))
                        answer = m.privatise(rows(call))
                        signal.setitimer(signal.ITIMER_REAL, 0)
                    except Late:
                        ended += 1
                        patient = noise.random() < 0.7
                        continue
                    patient = False
                    answered += 1
                    self.assertEqual(answer, rows(call), f"call {call}, after {ended} that were ended")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertGreater(min(ended, answered), CALLS // 20, "too few calls were ended, or answered, for a test")

    @unittest.skipUnless(hasattr(signal, "setitimer"), "no timers here")
    def test_handler_that_calls(self) -> None:
        """A signal handler may use the mechanism while its thread does."""
        found: list[Any] = []
        with made() as m:
            before = signal.signal(signal.SIGALRM, lambda *_: found.extend(wrong(m, [7, 8])))
            try:
                for _ in range(20):
                    signal.setitimer(signal.ITIMER_REAL, 0.002)
                    self.assertEqual(m.privatise(["ban den " * 20_000]), ["ban den " * 20_000])
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
        self.assertEqual(found, [], "calls of the handler got texts of others")

    def test_process_that_is_killed(self) -> None:
        """A call fails, or the next one has a new process."""
        with made() as m:
            for call in range(5):
                process(m).kill()
                with contextlib.suppress(MldpError):
                    m.privatise(rows(call))
                self.assertEqual(wrong(m, [call]), [])

    def test_copies(self) -> None:
        """Pickling carries the arguments only: a copy counts from the first line, in a process of its own."""
        texts = [" ".join(WORDS)] * 3
        with mldpbench.Mechanism("k-rr", 1, str(VECTORS), seed=5, parameters={}) as m:
            first = m.privatise(texts)
            copy = pickle.loads(pickle.dumps(m))
            self.assertIsNone(copy._process, "a copy starts nothing before it is used")
            self.assertEqual(copy.privatise(texts), first, "a copy with a seed starts with the first line")
            self.assertNotEqual(m.privatise(texts), first)
            self.assertNotEqual(process(copy).pid, process(m).pid)
            copy.close()
        with mldpbench.Mechanism("k-rr", 1, str(VECTORS)) as m, pickle.loads(pickle.dumps(m)) as copy:
            self.assertNotEqual(copy.privatise(texts), m.privatise(texts), "noise that repeats")

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_noise_of_children(self) -> None:
        """Without a seed children draw other noise than each other and than their parent."""
        text = " ".join(WORDS * 3)
        with mldpbench.Mechanism("k-rr", 1, str(VECTORS)) as m:
            outputs = []

            def writes(pipe: int) -> bool:
                return os.write(pipe, m.privatise([text])[0].encode()) > 0
            for _ in range(3):
                reading, writing = os.pipe()
                child = in_a_fork(functools.partial(writes, writing))
                os.close(writing)
                with open(reading, encoding="utf-8") as pipe:
                    outputs.append(pipe.read())
                os.waitpid(child, 0)
            outputs.append(m.privatise([text])[0])
        self.assertEqual(len(set(outputs)), 4, f"different outputs of three children and their parent: {outputs}")


def of_shared(call: int) -> list[Any]:
    return wrong(shared, [call])


shared: mldpbench.Mechanism


class TestAnswers(unittest.TestCase):
    """Programs that answer something else than was asked."""

    def mechanism(self, answer: str) -> mldpbench.Mechanism:
        """A mechanism whose program answers with a Python expression of r, the request, and of n, its number."""
        script = Path(FOLDER.name, f"mldp-{abs(hash(answer))}")
        script.write_text(textwrap.dedent(f"""\
            #!{sys.executable}
            import json, sys
            print(json.dumps({{"name": "fake"}}), flush=True)
            for n, line in enumerate(sys.stdin):
                r = json.loads(line)
                for a in {answer}:
                    print(json.dumps(a), flush=True)
            """))
        script.chmod(0o755)
        self.enterContext(mock.patch.dict(os.environ, MLDP=str(script)))
        m = mldpbench.Mechanism("fake", 1, "fake")
        self.addCleanup(m.close)
        return m

    def test_answer_to_another_request(self) -> None:
        right = '{"id": r["id"], "texts": r["texts"]}'
        for answer in ('[{"id": r["id"] - 1, "texts": r["texts"]}]', '[{"texts": r["texts"]}]', '[["texts"]]',
                       '[{"id": str(r["id"]), "texts": r["texts"]}]', f'[7, {right}]'):
            m = self.mechanism(answer)
            with self.assertRaisesRegex(MldpError, "not the answer to this request"):
                m.privatise(["a"])
            self.assertIsNone(m._process, f"{answer}: the process is asked no more")
        twice = self.mechanism(f"[{right}] * (1 + (n == 1))")
        self.assertEqual([twice.privatise(["a"]), twice.privatise(["b"])], [["a"], ["b"]])
        with self.assertRaisesRegex(MldpError, "not the answer to this request"):
            twice.privatise(["c"])
        self.assertEqual(twice.privatise(["d"]), ["d"], "the next call has a new process")
        short = self.mechanism('[{"id": r["id"], "texts": r["texts"][1:]}]')
        with self.assertRaisesRegex(MldpError, "no answer"):
            short.privatise(["a", "b"])

    def test_other_mechanism_after_a_restart(self) -> None:
        vectors = Path(FOLDER.name, "other.txt")
        vectors.write_text(VECTORS.read_text())
        with mldpbench.Mechanism("santext", 300, str(vectors)) as m:
            vectors.write_text("ban 1 2\nden 3 4\n")
            process(m).kill()
            with contextlib.suppress(MldpError):
                m.privatise(["ban"])
            with self.assertRaisesRegex(MldpError, "others than when the mechanism was made"):
                m.privatise(["ban"])


class TestProcesses(unittest.TestCase):
    def left(self, pids: list[int]) -> list[int]:
        end = time.monotonic() + 10
        while any(map(runs, pids)) and time.monotonic() < end:
            time.sleep(0.05)
        return [pid for pid in pids if runs(pid)]

    @unittest.skipUnless(Path("/proc/self/stat").exists(), "no /proc here")
    def test_dropped_objects(self) -> None:
        pids = []
        for _ in range(3):
            m = made()
            pids.append(process(m).pid)
        cycle = [made()]
        cycle.append(cycle)  # type: ignore[arg-type]
        pids.append(process(cycle[0]).pid)
        del m, cycle
        gc.collect()
        self.assertEqual(self.left(pids), [], "processes of objects that nobody holds run on")

    @unittest.skipUnless(Path("/proc/self/stat").exists(), "no /proc here")
    def test_end_of_python(self) -> None:
        code = f"import mldpbench; m = mldpbench.Mechanism('santext', 300, {str(VECTORS)!r}); print(m._process.pid)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(self.left([int(done.stdout)]), [], "the process outlives Python")
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
