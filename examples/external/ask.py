#!/usr/bin/env python3
"""Use a built-in mechanism of mldp from Python, without a temporary file.

ask.py MLDP-ARGUMENTS...   for example: ask.py --mechanism cmp --epsilon 10
Privatises standard input line by line, as mldp privatize does.
"""
import json, secrets, subprocess, sys


class Mechanism:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(["mldp", "serve", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, encoding="utf-8")
        self.hello, self.requests = json.loads(self.process.stdout.readline()), 0

    def privatize(self, texts, epsilon, seeds=None):
        """Without seeds the noise cannot be repeated."""
        self.requests += 1
        seeds = seeds or [secrets.token_hex(32) for _ in texts]
        request = {"id": self.requests, "epsilon": epsilon, "seeds": seeds, "texts": texts}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if answer["id"] != request["id"]:  # another thread, or a call that was interrupted
            raise ValueError("not the answer to this request")
        if "texts" not in answer:
            raise ValueError(answer.get("error") or answer.get("undefined"))
        return answer["texts"]


if __name__ == "__main__":
    mechanism = Mechanism(*sys.argv[1:])
    print(mechanism.hello["name"], mechanism.hello["guarantee"], file=sys.stderr)
    epsilon = float(sys.argv[sys.argv.index("--epsilon") + 1]) if "--epsilon" in sys.argv else 1
    lines = sys.stdin.buffer.read().decode().split("\n")  # not splitlines, which knows other ends of lines
    if lines != [""]:
        sys.stdout.buffer.write("\n".join(mechanism.privatize(lines, epsilon)).encode())
