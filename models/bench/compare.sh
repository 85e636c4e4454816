#!/bin/sh
# Times the LSTM of this repository, the same network unrolled from Gorgonia
# primitives and, where python3 has torch (Debian: python3-torch), PyTorch, in
# one run on one core: only the ratios carry over to other machines.
#
# OPENBLAS_CORETYPE: Debian's OpenBLAS takes recent CPUs for ones without AVX;
# without it PyTorch would look slower than it is. Set it to suit the machine.
set -eu
cd "$(dirname "$0")/../.."
export GOMAXPROCS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
export OPENBLAS_CORETYPE="${OPENBLAS_CORETYPE:-SkylakeX}"
python=${PYTHON:-python3}
go test ./models -run '^$' -bench 'LSTM' -benchtime 40x -benchmem -timeout 30m
if "$python" -c 'import torch' 2>/dev/null; then
	"$python" models/bench/lstm_torch.py
else
	echo "no PyTorch: set PYTHON to an interpreter that has it" >&2
fi
