#!/bin/sh
# Side by side with onnxruntime on one core: MLDP_DATA=folder models/transformer/bench/run.sh
# Needs node and npm; onnxruntime-node goes to a temporary folder. About a minute.
set -eu
cd "$(dirname "$0")/../../.."
data=${MLDP_DATA:-../shared/data}
here=$PWD/models/transformer/bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$work" onnxruntime-node@1 >/dev/null 2>&1
go test -c -o "$work/bench" ./models/onnx
export GOMAXPROCS=1 NODE_PATH="$work/node_modules"
one=''
if command -v taskset >/dev/null; then one="taskset -c ${CORE:-0}"; fi
echo "texts a second on one core, the fastest run of each; medians of five rounds one after the other"
echo "model batch length ours onnxruntime ratio largest-difference cosine"
compare() { # model, output, batch, length
  for round in 1 2 3 4 5; do
    ours=$(MLDP_DATA=$data MLDP_DUMP=$work/dump $one "$work/bench" -test.run '^$' -test.benchtime 1s \
      -test.bench "^BenchmarkGraph\$/^$1\$/^batch=$3\$/^length=$4\$" |
      awk '{ for (i = 2; i <= NF; i++) if ($i == "texts/s") print $(i - 1) }')
    echo "$ours $($one node "$here/ort.js" "$data/$1" "$2" "$3" "$4" 8000 1 "$work/dump")"
  done | sort -n | awk -v name="$1 $3 $4" '
    { ours[NR] = $1; ort[NR] = $2; ratio[NR] = $1 / $2; difference = $3; cosine = $4 }
    function median(x, i, j, t) {
      for (i = 1; i <= NR; i++) for (j = i + 1; j <= NR; j++) if (x[j] < x[i]) { t = x[i]; x[i] = x[j]; x[j] = t }
      return x[int((NR + 1) / 2)]
    }
    END { printf "%s %.0f %.0f %.2f %s %s\n", name, median(ours), median(ort), median(ratio), difference, cosine }'
}
compare use-lite-onnx sentence_embedding 1 32
compare use-lite-onnx sentence_embedding 8 32
compare use-lite-onnx sentence_embedding 2 128
compare tiny-masked-lm logits 8 32
compare tiny-causal-lm logits 4 64
