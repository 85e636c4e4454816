#!/usr/bin/env bash
# Makes the records behind the reports, and copies them
# into results/reference. From the root of the repository, after make build:
#
#   results/study.sh run [NAME ...]  runs all, or these; the same command resumes (an unfinished audit starts anew)
#
# The data folder is MLDP_DATA; a run that lacks data says so before it starts.
set -euo pipefail
set -f # paths such as embeddings[0].name are no patterns
mldp=${MLDP:-bin/mldp}
out=${STUDY_OUT:-runs/study}

# File in results/reference, file of the results folder that it is, and study
# with flags; for an audit, its flags.
runs='
replication                    results  replication --dataset agnews-2024 --set embeddings[0].name=glove.6B.words --set embeddings[0].dimensions=[100] --set scenes=[text,accuracy]
replication-50                 results  replication --dataset agnews-2024 --set embeddings[0].name=glove.6B.words --set embeddings[0].dimensions=[50] --set scenes=[text,accuracy]
replication-50-2025            results  replication --dataset agnews-2024 --set embeddings[0].name=glove.6B.words --set embeddings[0].dimensions=[50] --set scenes=[text] --seed 2025
replication-imdb               results  replication --dataset imdb-2024 --set embeddings[0].name=glove.6B --set embeddings[0].dimensions=[100] --set scenes=[text-imdb,accuracy]
replication-imdb-50            results  replication --dataset imdb-2024 --set embeddings[0].name=glove.6B --set embeddings[0].dimensions=[50] --set scenes=[text-imdb,accuracy]
replication-cs                 results  replication --dataset agnews-2024 --set embeddings[0].name=glove.6B.words --set scenes=[cs]
replication-cs-imdb            results  replication --dataset imdb-2024 --set embeddings[0].name=glove.6B --set scenes=[cs]
replication-fits               results  replication-fits --dataset agnews-2024 --set embeddings[0].name=glove.6B.words --set embeddings[0].dimensions=[100]
replication-fits-50            results  replication-fits --dataset agnews-2024 --set embeddings[0].name=glove.6B.words --set embeddings[0].dimensions=[50]
replication-fits-50-2025       results  replication-fits --dataset agnews-2024 --set embeddings[0].name=glove.6B.words --set embeddings[0].dimensions=[50] --set scenes=[text] --seed 2025
replication-fits-imdb          results  replication-fits --dataset imdb-2024 --set embeddings[0].name=glove.6B --set embeddings[0].dimensions=[100] --set scenes=[text]
replication-fits-imdb-50       results  replication-fits --dataset imdb-2024 --set embeddings[0].name=glove.6B --set embeddings[0].dimensions=[50] --set scenes=[text]
replication-local              results  replication --dataset agnews-2024 --set embeddings[0].name=local --set embeddings[0].dimensions=[300] --set scenes=[text]
replication-fewer              results  replication --dataset agnews-2024 --set embeddings[0].name=glove.6B --mechanism cmp --set embeddings[0].dimensions=[100] --set scenes=[text]
replication-2025               results  replication --dataset agnews-2024 --set embeddings[0].name=glove.6B.words --set embeddings[0].dimensions=[100] --set scenes=[accuracy] --seed 2025
replication-2026               results  replication --dataset agnews-2024 --set embeddings[0].name=glove.6B.words --set embeddings[0].dimensions=[100] --set scenes=[accuracy] --seed 2026
comparative                    results  comparative --set embeddings[0].dimensions=[100]
comparative-50                 results  comparative --set embeddings[0].dimensions=[50] --repetitions 1
comparative-released           results  comparative-released --set embeddings[0].dimensions=[100]
comparative-released-50        results  comparative-released --set embeddings[0].dimensions=[50] --repetitions 1
comparative-low                results  comparative --dataset agnews --set embeddings[0].dimensions=[100] --set models=[] --set metrics={"low":1000} --set settings=[train-only] --repetitions 1
comparative-local-300          results  comparative --set embeddings[0].name=local --set embeddings[0].dimensions=[300] --repetitions 3
comparative-released-local-300 results  comparative-released --set embeddings[0].name=local --set embeddings[0].dimensions=[300] --repetitions 3
extended                       results  extended
extended-50                    results  extended --set embeddings[0].dimensions=[50] --mechanism rank-fix,diffractor,vickrey,cmp,mahalanobis,syntf,santext,tem,k-rr --align em=0.5
axes                           results  axes
classifiers                    results  classifiers
classifiers-imdb               results  classifiers-imdb
few-draws                      results  few-draws
grown                          results  grown --dataset product-reviews,agnews
grown-imdb                     results  grown --dataset imdb
authors                        results  authors
refuted                        results  extended --dataset agnews --mechanism custext:released,tem:released,vickrey:released,gumbel:released,syntf:released --epsilons 1,4,8,16 --repetitions 1
audit-glove-100                audit    --grid --embedding glove.6B.100d --restrict agnews
attacks                        results  attacks
attacks-topic                  results  attacks --dataset agnews-agency --repetitions 3 --set attackers=[] --set metrics={} --set causal=
context                        results  attacks --dataset agnews-agency --repetitions 3 --set scenes[0].public=agnews-more --set scenes[0].attackers=[context] --set scenes[0].models=[] --set metrics={} --set causal= --set scenes[0].mechanisms=[{"name":"diffractor","epsilons":[0.335]},{"name":"custext","epsilons":[1]},{"name":"rank-fix","epsilons":[9.56,18]},{"name":"kth","epsilons":[12.1]},{"name":"vickrey","parameters":{"t":0.5},"epsilons":[9.84]},{"name":"santext","epsilons":[3]},{"name":"cmp","epsilons":[8]}]
auditor                        results  cmp --set scenes=[auditor]
cmp-50                         results  cmp --set scenes=[deniability] --set scenes[0].embeddings[0].dimensions=[50] --set scenes[0].metrics.deniability.words=300 --epsilons 5,10
privemb-50                     results  privemb --set scenes=[words] --set scenes[0].embeddings=[glove.6B] --set scenes[0].embeddings[0].dimensions=[50]
retrieval                      results  cmp --set scenes=[retrieval]
'

usage() { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }

each() { # of the runs named, or of all: calls "$1 name file study flags..."
  local do=$1 name file arguments found=0 lacking=0
  shift
  while read -r name file arguments; do
    [ -n "$name" ] || continue
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    found=$((found + 1))
    # shellcheck disable=SC2086 # flags hold no spaces
    "$do" "$name" "$file" $arguments || lacking=$((lacking + 1))
  done <<<"$runs"
  [ "$found" -ge $(($# > 1 ? $# : 1)) ] || { echo "study: no such run among: $*" >&2; exit 2; }
  [ "$lacking" = 0 ]
}

run() {
  local name=$1 file=$2
  shift 2
  if [ "$file" = audit ]; then
    echo "== mldp audit $*" >&2
    mkdir -p "$out" &&
      { [ -e "$out/$name.json" ] || { "$mldp" audit "$@" --json >"$out/$name.part" && mv "$out/$name.part" "$out/$name.json"; }; } &&
      python3 -c 'import csv, json, sys
rows = json.load(sys.stdin)["tables"]["audit"]
columns = [c for c in rows[0] if c not in ("verdict", "worst")]
text = {True: "true", False: "false"}
csv.writer(sys.stdout, lineterminator="\n").writerows([columns] + [
    [text[v] if isinstance(v, bool) else v for v in map(r.get, columns)] for r in rows])' \
        <"$out/$name.json" >"results/reference/$name.csv.new" && mv "results/reference/$name.csv.new" "results/reference/$name.csv"
    return
  fi
  echo "== mldp run $*" >&2
  "$mldp" run "$@" --out "$out/$name" || return # each calls this where set -e is off
  # Answers by document stay in a new record, and in those that a report pairs by them.
  # zcat ends by a signal once the first line is read: in a pipe that would count as no.
  if ! [ -e "results/reference/$name.csv.gz" ] || grep -q ,correct, < <(zcat "results/reference/$name.csv.gz" | sed 1q); then
    cat "$out/$name/results.csv"
  else
    python3 -c 'import csv, sys
rows = csv.reader(sys.stdin); head = next(rows); kept = [i for i, c in enumerate(head) if c != "correct"]
csv.writer(sys.stdout, lineterminator="\n").writerows([r[i] for i in kept] for r in [head, *rows])' <"$out/$name/results.csv"
  fi | gzip -9nc >"results/reference/$name.csv.gz.new" && mv "results/reference/$name.csv.gz.new" "results/reference/$name.csv.gz"
}

case ${1-} in
run) shift; each run "$@" ;;
*) usage ;;
esac
