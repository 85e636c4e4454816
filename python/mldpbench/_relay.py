"""The command of a function that another Python serves at the port MLDP_FUNCTION: _relay.py {vectors}.

Each line has one line as its answer."""

import itertools
import os
import socket
import sys

with socket.create_connection(("127.0.0.1", int(os.environ["MLDP_FUNCTION"]))) as other, \
        other.makefile("rwb") as lines:
    for line in itertools.chain([os.fsencode(sys.argv[1]) + b"\n"], sys.stdin.buffer):
        lines.write(line)
        lines.flush()
        answer = lines.readline()
        if not answer.endswith(b"\n"):
            sys.exit("the Python that has the function has ended")
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
