#!/usr/bin/env bash
# Runs the mini study on a real Slurm of one node and compares it with a run
# on one machine: with tasks killed, drained, and ended by their time limit.
#
#   experiments/slurmtest/run.sh            needs root, slurm-wlm and munge
#   MLDP_SLURM_INSTALL=1 .../run.sh         installs them first (Debian, Ubuntu)
#
# The Slurm is its own: configuration, keys, ports, spool and logs live in a
# temporary folder, and only the three daemons started here are stopped.
# Exit codes: 0 passed, 1 failed, 77 skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() { echo "slurmtest: skipped, $*"; exit 77; }
fail() {
  echo "slurmtest: FAILED, $*" >&2
  tail -n 20 "$dir"/log/*.log "$dir"/*/logs/*.log >&2 2>/dev/null || true
  exit 1
}
step() { printf '\n== %s (%s)\n' "$*" "$(date +%T)"; }

[ "$(id -u)" = 0 ] || skip "it needs root"
if ! command -v slurmctld slurmd munged sbatch >/dev/null 2>&1; then
  [ "${MLDP_SLURM_INSTALL:-}" = 1 ] || skip "no slurm-wlm and munge here (MLDP_SLURM_INSTALL=1 installs them)"
  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q slurm-wlm munge
fi

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
KillWait=10
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

state() { scontrol --oneliner show job "$1" | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p'; }
code() { scontrol --oneliner show job "$1" | sed -n 's/.* ExitCode=\([0-9:]*\).*/\1/p'; }
# scancel may report a failure for a signal that it delivered to one task of an
# array: what counts is how the task ends, which is checked below.
signal_task() { scancel "$@" || echo "scancel $* returned $?"; }
ended() { # ended JOB...: waits until none of the jobs is queued, 15 minutes at most
  for _ in $(seq 900); do
    [ -z "$(squeue --noheader --jobs="$(IFS=,; echo "$*")" 2>/dev/null)" ] && return
    sleep 1
  done
  fail "jobs $* did not end"
}
cells() { find "$1/units" -name '*.json' 2>/dev/null | wc -l; }
cells_of() { # cells_of FOLDER TASK: cells of one task that are done
  sed -n "s/.*\"key\":\"\([0-9a-f]*\)\",\"task\":$2,.*/\1/p" "$1/plan.jsonl" |
    while read -r key; do if [ -e "$1/units/$key.json" ]; then echo "$key"; fi; done | wc -l
}
await_cells() { # await_cells FOLDER N: waits until N cells are done
  for _ in $(seq 1200); do
    [ "$(cells "$1")" -ge "$2" ] && return
    sleep 0.1
  done
  fail "no $2 cells in $1 after two minutes"
}

step "one machine: mldp run mini"
SECONDS=0
mldp run mini --out "$dir/single" 2>&1 | grep 'finished before'
single=$SECONDS

step "job array: 6 tasks, 2 at a time"
job=$(mldp slurm mini --out "$dir/array" --tasks 6 --concurrent 2 --submit)
echo "job $job"
await_cells "$dir/array" 5
mldp status "$dir/array"
squeue

step "kill task 1 in the middle of a cell (KILL), cancel task 2 (scancel), drain task 3 (USR1)"
signal_task --batch --signal=KILL "${job}_1"
before=$(cells "$dir/array")
await_cells "$dir/array" $((before + 2))
signal_task "${job}_2"
for _ in $(seq 600); do [ "$(cells_of "$dir/array" 3)" -ge 3 ] && break; sleep 0.2; done
signal_task --batch --signal=USR1 "${job}_3"
ended "$job"
for t in 1 2 3 4 5 6; do echo "task $t: $(state "${job}_$t"), exit code $(code "${job}_$t")"; done
[ "$(state "${job}_1")" != COMPLETED ] || fail "task 1 was killed but is COMPLETED"
[ "$(state "${job}_2")" = CANCELLED ] || fail "task 2 is $(state "${job}_2"), want CANCELLED"
[ "$(code "${job}_3")" = 5:0 ] || fail "task 3 ended with $(code "${job}_3"), want 5:0"
grep -h interrupted "$dir/array/logs/${job}_3.log"
[ "$(cells_of "$dir/array" 3)" -ge 3 ] || fail "task 3 lost cells"
mldp status "$dir/array"

step "submit again what is missing"
missing=$(mldp status "$dir/array" --missing --format=array)
echo "missing: $missing"
[ "$missing" = 1-3 ] || fail "missing is $missing, want 1-3"
if mldp merge "$dir/array" --out "$dir/early" 2>"$dir/early.err"; then fail "merge accepted missing cells"; fi
cat "$dir/early.err"
again=$(sbatch --parsable --array="$missing" "$dir/array/job.sbatch")
ended "$again"
grep -h "finished already" "$dir"/array/logs/"${again}"_*.log
mldp status "$dir/array"
[ -z "$(mldp status "$dir/array" --missing --format=array)" ] || fail "still missing: $(mldp status "$dir/array" --missing --format=array)"
mldp merge "$dir/array" --out "$dir/merged" >"$dir/merge.log"
same "$dir/single/results.csv" "$dir/merged/results.csv"
cmp "$dir/single/examples.jsonl" "$dir/merged/examples.jsonl"

step "a paper study: 3 tasks, one of them killed"
mldp run tem-generated --out "$dir/paper-single" 2>&1 | grep 'finished before'
job=$(mldp slurm tem-generated --out "$dir/paper" --tasks 3 --concurrent 2 --submit)
await_cells "$dir/paper" 1
signal_task --batch --signal=KILL "${job}_1"
ended "$job"
missing=$(mldp status "$dir/paper" --missing --format=array)
echo "missing: $missing"
if [ -n "$missing" ]; then ended "$(sbatch --parsable --array="$missing" "$dir/paper/job.sbatch")"; fi
mldp status "$dir/paper"
mldp merge "$dir/paper" --out "$dir/paper-merged" >"$dir/merge.log"
same "$dir/paper-single/results.csv" "$dir/paper-merged/results.csv"

step "tasks ended by their time limit: one task of one core"
# Enough repetitions for 200 s on one core of this machine: more than both limits.
repetitions=$((1 + 200 / (single + 1)))
reference=$dir/single
flags=()
if [ "$repetitions" -gt 2 ]; then
  reference=$dir/longer
  flags=(--repetitions "$repetitions")
fi
# Slurm looks at limits every 30 s and gives notice up to 60 s early: here at
# 90 s at the latest, so that 200 s of work are ended by a limit and by a notice.
mldp slurm mini "${flags[@]}" --out "$dir/limit" --tasks 1 --time 2m --notice 60s >"$dir/limit.sbatch"
# First one minute without notice, so that the limit itself ends the task.
job=$(sbatch --parsable --time=1 --signal=B:CONT@1 "$dir/limit.sbatch")
# Meanwhile, on the core that Slurm leaves idle, what the rows are compared with.
if [ "$reference" != "$dir/single" ]; then
  GOMAXPROCS=1 mldp run mini "${flags[@]}" --out "$reference" >"$dir/log/longer.log" 2>&1 || fail "the run to compare with"
fi
ended "$job"
echo "job $job: $(state "${job}_1"), exit code $(code "${job}_1"), $(cells "$dir/limit") cells done"
[ "$(state "${job}_1")" = TIMEOUT ] || fail "job $job is $(state "${job}_1"), want TIMEOUT"
noticed=
for _ in $(seq 20); do
  missing=$(mldp status "$dir/limit" --missing --format=array 2>/dev/null)
  [ -n "$missing" ] || break
  job=$(sbatch --parsable --array="$missing" "$dir/limit.sbatch")
  ended "$job"
  echo "job $job: $(state "${job}_1"), exit code $(code "${job}_1"), $(cells "$dir/limit") cells done"
  [ "$(state "${job}_1") $(code "${job}_1")" != "FAILED 5:0" ] || noticed=yes
done
[ -n "$noticed" ] || fail "no task of the limit was ended by a notice"
[ -z "$(mldp status "$dir/limit" --missing --format=array 2>/dev/null)" ] || fail "not finished after 20 submissions"
mldp merge "$dir/limit" --out "$dir/limit-merged" >"$dir/merge.log"
same "$reference/results.csv" "$dir/limit-merged/results.csv"

step "passed"
