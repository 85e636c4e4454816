#!/bin/sh
# Measures the selection family on an idle machine: rows, draws, text to text,
# comparison with numpy, and large vocabularies. From the root of the
# repository:
#
#	MLDP_DATA=folder-of-the-data mechanisms/bench/measure.sh [file-of-vectors...]
#
# The files, where given, are the large vocabularies.
set -eu
: "${MLDP_DATA:?names the data folder}"
vectors=$MLDP_DATA/glove.6B.100d.subset.txt.gz
go build -trimpath -o bin/mldp ./cmd/mldp
go test -run '^$' -bench 'Peak|Weights|Panels' ./internal/kernel
go test -run '^$' -bench 'SelectionPrepare|SelectionDraw|GumbelDistribution' ./mechanisms
bin/mldp bench --embedding glove.6B --dimension 100 --vocabulary 27000 --dataset agnews --mechanism santext,tem,cmp \
	--epsilon 1,5,10 --count 200000 --repeat 5 --workers 1,2
mechanisms/bench/compare.py --mldp bin/mldp --vectors "$vectors" --words 27000 --dataset agnews --data "$MLDP_DATA"
for file; do
	MLDP_LARGE=$file go test -run '^$' -bench Large -benchtime 1x -timeout 0 ./mechanisms
done
