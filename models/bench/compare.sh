#!/bin/sh
# Times the LSTM of this repository, the same network unrolled from Gorgonia
# primitives and, where python3 has torch (Debian: python3-torch), PyTorch, in
# one run on one core: only the ratios carry over to other machines. Each line
# of ours is a process of its own, so that its peak memory is its own, too.
#
# OPENBLAS_CORETYPE: Debian's OpenBLAS takes recent CPUs for ones without AVX;
# without it PyTorch would look slower than it is. Set it to suit the machine.
#
#   MLDP_DATA  folder with imdb.csv.gz and the vectors (default ../shared/data);
#              without them only random tokens
#   ROUNDS     how often everything is measured (default 3)
#   PYTHON     an interpreter that has torch
set -eu
cd "$(dirname "$0")/../.."
export GOMAXPROCS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
export OPENBLAS_CORETYPE="${OPENBLAS_CORETYPE:-SkylakeX}"
python=${PYTHON:-python3}
MLDP_DATA=$(cd "${MLDP_DATA-../shared/data}" && pwd) 2>/dev/null || MLDP_DATA=
[ -f "$MLDP_DATA/imdb.csv.gz" ] || MLDP_DATA=
export MLDP_DATA
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go test -c -o "$work/models.test" ./models
if ! "$python" -c 'import torch' 2>/dev/null; then
	echo "no PyTorch: set PYTHON to an interpreter that has it" >&2
	python=
fi
ours() { # benchmark, repetitions
	(cd models && "$work/models.test" -test.run '^$' -test.bench "$1" -test.benchtime "$2" | grep '^Bench' || true)
}
texts=random
[ -z "$MLDP_DATA" ] || texts="random imdb"
for round in $(seq "${ROUNDS:-3}"); do
	for text in $texts; do
		for d in 50 100 300; do
			ours "^BenchmarkLSTM\$/^$text\$/^d=$d\$/^train\$" 48x
			ours "^BenchmarkLSTM\$/^$text\$/^d=$d\$/^infer\$" 16x
		done
	done
	[ -z "$python" ] || "$python" models/bench/lstm_torch.py
	[ "$round" -gt 1 ] || for d in 50 100 300; do
		ours "^BenchmarkUnrolled\$/^random\$/^d=$d\$" 5x
	done
done
