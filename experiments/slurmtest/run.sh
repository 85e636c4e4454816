#!/usr/bin/env bash
# Runs a study on a real Slurm of one node as mldp slurm prints it: one shard is
# killed, the other ended by its time limit, both are continued by the same script,
# and the merged rows are those of a run on one machine. Two minutes, most of them
# the limit. Needs root, slurm-wlm and munge (Debian, Ubuntu).
#
# The Slurm is its own: configuration, keys, ports, spool and logs live in a
# temporary folder, and only the three daemons started here are stopped.
# Exit codes: 0 passed, 1 failed, 77 skipped (where CI is not true).
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() { echo "slurmtest: not run, $*"; [ "${CI:-}" = true ] && exit 1; exit 77; }
fail() {
  echo "slurmtest: FAILED, $*" >&2
  tail -n 20 "$dir"/log/*.log "$dir"/*/logs/*.log >&2 2>/dev/null || true
  exit 1
}
step() { printf '\n== %s (%s)\n' "$*" "$(date +%T)"; }

[ "$(id -u)" = 0 ] || skip "it needs root"
for p in slurmctld slurmd munged sbatch python3; do command -v "$p" >/dev/null || skip "there is no $p"; done

dir=$(mktemp -d "${TMPDIR:-/tmp}/mldp-slurm.XXXXXX")
chmod 755 "$dir" # the daemon of munge runs as its own user
pids=()
stop() {
  code=$?
  trap - EXIT
  if [ -n "${SLURM_CONF:-}" ]; then scancel --quiet --user=root 2>/dev/null || true; fi
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    kill "${pids[i]}" 2>/dev/null || true
    wait "${pids[i]}" 2>/dev/null || true
  done
  if [ "$code" = 0 ] && [ -z "${MLDP_SLURM_KEEP:-}" ]; then rm -rf "$dir"; else echo "slurmtest: files kept in $dir"; fi
  [ "$code" = 0 ] || echo "slurmtest: exit code $code" >&2
  exit "$code"
}
trap stop EXIT

step "start munged, slurmctld and slurmd"
mkdir -p "$dir"/{munge,state,spool,log}
head -c 1024 /dev/urandom >"$dir/munge/key"
chown -R munge:munge "$dir/munge"
chmod 400 "$dir/munge/key"
(cd / && exec setpriv --reuid=munge --regid=munge --clear-groups munged --foreground \
  --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
  --log-file="$dir/munge/log" --seed-file="$dir/munge/seed") >"$dir/log/munged.log" 2>&1 &
pids+=($!)
free_port() { # of the loopback interface, tried by connecting
  local p
  while p=$((20000 + RANDOM % 20000)); (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null; do :; done
  echo "$p"
}
host=$(hostname -s)
memory=$(awk '/MemTotal/ {print int($2 / 1024 * 0.9)}' /proc/meminfo)
cat >"$dir/slurm.conf" <<CONF
ClusterName=mldp
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=5
MinJobAge=3600
NodeName=node NodeHostname=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=$memory
PartitionName=test Nodes=node Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$dir/slurm.conf
for _ in $(seq 50); do [ -S "$dir/munge/socket" ] && break; sleep 0.2; done
slurmctld -D -i >"$dir/log/slurmctld.out" 2>&1 &
pids+=($!)
slurmd -D -N node >"$dir/log/slurmd.out" 2>&1 &
pids+=($!)
for _ in $(seq 100); do
  [ "$(sinfo --noheader --format=%t 2>/dev/null)" = idle ] && break
  sleep 0.3
done
[ "$(sinfo --noheader --format=%t)" = idle ] || fail "the node did not come up"
sinfo

step "build mldp"
go build -trimpath -o "$dir/mldp" ./cmd/mldp
go build -trimpath -o "$dir/same" ./experiments/slurmtest
export PATH="$dir:$PATH" XDG_CACHE_HOME=$dir/cache
cd "$dir"
cat >study.yaml <<'STUDY'
schema: 1
name: slurm
seed: 7
datasets: [{name: generated-words}]
embeddings: [{name: generated, dimensions: [50]}]
mechanisms: [{name: cmp}, {name: k-rr}, {name: slow, command: [python3, slow.py]}]
epsilons: [1, 5]
models: [{name: svm}]
repetitions: 1
metrics: {low: 100}
STUDY
# A mechanism that answers nothing while the file slow is there.
cat >slow.py <<'MECHANISM'
import json, os, sys, time
print(json.dumps({"protocol": 1, "name": "slow", "repeatable": True}), flush=True)
for line in sys.stdin:
    while os.path.exists("slow"):
        time.sleep(0.2)
    q = json.loads(line)
    print(json.dumps({"id": q["id"], "documents": [[w[::-1] for w in d] for d in q["documents"]]}), flush=True)
MECHANISM

state() { scontrol --oneliner show job "$1" | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p'; }
ended() { # ended JOB...: waits until none of the jobs is queued, 5 minutes at most
  for _ in $(seq 600); do
    [ -z "$(squeue --noheader --jobs="$(IFS=,; echo "$*")" 2>/dev/null)" ] && return
    sleep 0.5
  done
  fail "jobs $* did not end"
}
units() { find array/units -name '*.json' 2>/dev/null | wc -l; }

step "one machine"
mldp run study.yaml --out single 2>&1 | grep 'finished before'

step "two shards, each with units that never end: one is killed, one reaches its limit of a minute"
touch slow
mldp slurm study.yaml --out array --shards 2 -- --time=1 >job.sh
read -r array merge < <(bash job.sh)
for _ in $(seq 600); do [ "$(units)" -ge 6 ] && break; sleep 0.1; done
[ "$(units)" -ge 6 ] || fail "no six units after a minute"
scancel --batch --signal=KILL "${array}_1" || echo "scancel returned $?" # it may although it delivered the signal
ended "$array" "$merge"
before=$(units)
echo "shard 1 $(state "${array}_1"), shard 2 $(state "${array}_2"), merge $(state "$merge"), $before units"
[ "$(state "${array}_1")" = FAILED ] || fail "shard 1 was killed, but is $(state "${array}_1")"
[ "$(state "${array}_2")" = TIMEOUT ] || fail "shard 2 reached its limit, but is $(state "${array}_2")"
[ "$(state "$merge")" = FAILED ] || fail "an incomplete study was merged"
grep 'units are in none of the' array/logs/merge.log || fail "the merge does not say what is missing"
mldp status array

step "the same script again"
rm slow
read -r array merge < <(bash job.sh)
ended "$array" "$merge"
grep -h 'finished already' array/logs/"${array}"_*.log || fail "units were run again"
mldp status array | tee status.txt
grep -q '^0 of .* are left$' status.txt || fail "the study is not complete"
[ "$(state "$merge")" = COMPLETED ] || fail "the merge is $(state "$merge")"
same single/results.csv array/results.csv

step "passed"
