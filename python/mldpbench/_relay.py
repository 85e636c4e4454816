"""The command of a function that another Python serves at the port MLDP_FUNCTION: _relay.py {vectors}."""
import itertools
import os
import socket
import sys
with socket.create_connection(("127.0.0.1", int(os.environ["MLDP_FUNCTION"]))) as other, \
        other.makefile("rw", encoding="utf-8") as lines:
    for line in itertools.chain([sys.argv[1] + "\n"], sys.stdin):  # each has one line as its answer
        lines.write(line)
        lines.flush()
        print(lines.readline(), end="", flush=True)
