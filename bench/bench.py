#!/usr/bin/env python3
"""The table of README.md: this program beside numpy, faiss and PyTorch, each line in turn, pinned to one core.

    make bench                     from the root of the project, with bin/mldp built (MLDP_DATA or ../shared/data)
    BENCHFLAGS='--rounds 3 search' only lines whose name has this word

Peers are installed into bin/bench-venv from requirements.txt; what can't be installed is left out and said. All
figures but the last are processor time, so the ratios hold on a busy machine; the environment's choices of OpenBLAS's
kernels and threads are removed.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
VENV = ROOT / "bin" / "bench-venv"
PYTHON = VENV / "bin" / "python"
CORES = set(sorted(os.sched_getaffinity(0))[:2]) if hasattr(os, "sched_getaffinity") else set()


def environment(data):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS_", "OMP_", "MKL_", "MLDP_SIMD"))}
    threads = {k + "_NUM_THREADS": "1" for k in ("OPENBLAS", "OMP", "MKL")}
    return env | threads | {"GOMAXPROCS": "1", "MLDP_DATA": str(data), "STOP": str(ROOT / "datasets" / "stopwords.go")}


def peers(env):
    """The installed packages and their versions."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    found = {}
    for line in (HERE / "requirements.txt").read_text().split():
        name, version = line.split("==")
        code = f"from importlib.metadata import version; print(version('{name}'))"
        have = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, env=env)
        if have.stdout.strip().split("+")[0] != version:
            if subprocess.run([PYTHON, "-m", "pip", "install", "-q", line], env=os.environ).returncode:
                print(f"left out: {line} could not be installed", file=sys.stderr)
                continue
        found[name] = version
    return found


def run(command, env, cwd=ROOT):
    """Standard output, and the processor time in seconds."""
    before = os.times()
    out = subprocess.run([str(c) for c in command], env=env, cwd=cwd, capture_output=True, text=True)
    after = os.times()
    if out.returncode:
        sys.exit(f"{command}: {out.stderr}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return out.stdout, spent


def go_figure(binary, folder, pattern, times, unit, best):
    def measure(env):
        out, _ = run([binary, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", times], env, ROOT / folder)
        figures = [float(x) for x in re.findall(r"([0-9.e+]+) " + unit, out)]
        if not figures:
            sys.exit(f"bench.py: {pattern} measured nothing: are the data in {env['MLDP_DATA']}? Name them in MLDP_DATA")
        return best(figures)
    return measure


def peer(name, *arguments):
    return lambda env: float(run([PYTHON, HERE / "peers.py", name, *arguments], env)[0])


def cell(env):
    out = ROOT / "bin" / "bench-cell"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    return run([ROOT / "bin" / "mldp", "run", HERE / "cell.yaml", "--out", out], env)[1]


def peer_cell(env, threads="1"):
    return run([PYTHON, HERE / "cell.py", threads], env)[1]


def clocked(measure, *arguments):
    """The seconds by the clock of a measurement on two cores: processor time does not say how they are used."""
    def by_clock(env):
        pinned, start = os.sched_getaffinity(0), time.monotonic()
        os.sched_setaffinity(0, CORES)
        measure({**env, "GOMAXPROCS": "2"}, *arguments)
        os.sched_setaffinity(0, pinned)
        return time.monotonic() - start
    return by_clock


def lines(have):
    """Name, unit, whether more is better, ours, peers."""
    for n, d in ((27000, 100), (85000, 100)):
        ours = go_figure(ROOT / "bin/nearest.test", "embeddings/nearest", f"^BenchmarkSearch$/^{n}x{d}$/^eps=5$/^top1$",
                         "8x", "queries/s", max)
        yield (f"search {n} x {d}, words/s", True, ours,
               {p: peer("search-" + p, n, d) for p in ("numpy", "faiss") if {"faiss": "faiss-cpu"}.get(p, p) in have})
    for d in (50, 100, 300):
        ours = go_figure(ROOT / "bin/models.test", "models", f"^BenchmarkLSTM$/^random$/^d={d}$/^train$", "40x",
                         "median-cpu-ms", min)
        yield (f"LSTM training d = {d}, ms a batch", False, ours,
               {"torch": peer("lstm", d)} if "torch" in have else {})
    both = {"numpy", "torch"} <= have.keys()
    yield ("one cell of the study, s", False, cell,
           {"numpy + torch": peer_cell} if both else {})
    if len(CORES) == 2:
        yield ("one cell on two cores, s by the clock", False, clocked(cell),
               {"numpy + torch": clocked(peer_cell, "2")} if both else {})


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("only", nargs="*", help="words in the names of the lines")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0)
    p.add_argument("--data", default=os.environ.get("MLDP_DATA", ROOT.parent / "shared" / "data"))
    a = p.parse_args()
    data = pathlib.Path(a.data).resolve()
    if not data.is_dir():
        sys.exit(f"bench.py: no data in {data}: name their folder in MLDP_DATA or --data")
    env = environment(data)
    have = peers(env)
    for name, package in (("models", "./models"), ("nearest", "./embeddings/nearest")):
        subprocess.run(["go", "test", "-vet=off", "-c", "-o", f"bin/{name}.test", package], cwd=ROOT, check=True)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {a.core})
    print("peers: " + ", ".join(f"{k} {v}" for k, v in have.items()))
    print("\n| work | this program | peer | ratio |\n|---|---|---|---|")
    for name, more, ours, others in lines(have):
        if a.only and not any(word in name for word in a.only):
            continue
        rounds = 1 if "cell" in name else a.rounds
        figures = {k: [] for k in ("", *others)}
        for _ in range(rounds):
            for k in figures:
                figures[k].append((others[k] if k else ours)(env))
        own = statistics.median(figures.pop(""))
        for k, values in figures.items():
            its = statistics.median(values)
            ratio = f"{own / its:.1f} x" if more else f"{own / its:.2f} of its time"
            print(f"| {name} | {own:,.4g} | {k} {its:,.4g} | {ratio} |", flush=True)
        if not figures:
            print(f"| {name} | {own:,.4g} | | |", flush=True)


if __name__ == "__main__":
    main()
