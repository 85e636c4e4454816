#!/bin/bash
# {{.Study}} in {{.Shards}} shards on Slurm. Run it (bash FILE) where sbatch is; the same once more continues
# shards that were killed, stopped or failed. It prints the ids of the array and of the merge after it.
set -eu
cd {{quote .WorkDir}}
out={{quote .Out}}
mkdir -p "$out/logs"
array=$(sbatch --parsable --job-name={{quote .Name}} --array=1-{{.Shards}} --requeue --open-mode=append \
  --output={{quote .Log}}/logs/%A_%a.log{{range .Options}} {{quote .}}{{end}} <<'JOB'
#!/bin/bash
export GOMAXPROCS="${SLURM_CPUS_PER_TASK:-1}"
# exec: signals reach mldp itself, and its exit code is the task's.
exec {{quote .Program}} run {{quote .Study}}{{range .Flags}} {{quote .}}{{end}} \
  --out {{quote .Out}} --shard "$SLURM_ARRAY_TASK_ID/{{.Shards}}" --workers "$GOMAXPROCS"
JOB
)
# After all shards, whatever became of them: the log of the merge names what is missing.
# Of an option that is given twice sbatch takes the last: the merge waits for the array alone.
merge=$(sbatch --job-name={{quote .Name}} --open-mode=append \
  --output={{quote .Log}}/logs/merge.log{{range .Others}} {{quote .}}{{end}} --parsable --dependency="afterany:${array%%;*}" <<'JOB'
#!/bin/bash
exec {{quote .Program}} merge {{quote .Out}}
JOB
)
echo "$array $merge"
