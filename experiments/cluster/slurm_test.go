package cluster

import (
	"io"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"
)

func slurmJob() Slurm {
	return Slurm{
		Name: "mldp-mini-0011aabb", Program: "/opt/mldp", Study: "mini", Flags: []string{"--epsilons=1,5"},
		Out: "/shared/it's here", Plan: "/shared/it's here/plan.jsonl", WorkDir: "/home/me", Tasks: 8, Concurrent: 4,
		MaxArraySize: DefaultMaxArraySize, CPUs: 2, Memory: "4G", Time: 26*time.Hour + time.Second,
		Notice:    2 * time.Minute,
		Partition: "cpu", Extra: []string{"--account=x"},
	}
}

func script(t *testing.T, s Slurm) string {
	t.Helper()
	var b strings.Builder
	if err := s.Script(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestScript(t *testing.T) {
	got := script(t, slurmJob())
	for _, line := range []string{
		"#SBATCH --array=1-8%4", "#SBATCH --time=1-02:01:00", "#SBATCH --signal=B:USR1@120",
		"#SBATCH --open-mode=append",
		`#SBATCH --output="/shared/it's here/logs/%A_%a.log"`, "#SBATCH --partition=cpu", "#SBATCH --account=x",
		`exec /opt/mldp run mini --epsilons=1,5 \`, `  --out '/shared/it'\''s here' --plan '/shared/it'\''s here/plan.jsonl' \`,
		`  --shard "$task/8" --workers "$SLURM_CPUS_PER_TASK"`,
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
	if strings.Contains(got, "THIS_FILE") {
		t.Error("one array is enough, but the script speaks of more")
	}
}

// The shell reads the script correctly: mldp gets exactly the given arguments.
func TestScriptRuns(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	s := slurmJob()
	s.Program, s.Study, s.Flags = "/bin/echo", "my $study.yaml", []string{"--data=a b", "--models=`x`"}
	cmd := exec.Command(bash, "-s")
	cmd.Stdin = strings.NewReader(script(t, s))
	cmd.Env = []string{"PATH=/usr/bin:/bin", "SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_JOB_ID=9", "SLURM_CPUS_PER_TASK=3",
		"MLDP_OFFSET=5"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := "run my $study.yaml --data=a b --models=`x` --out /shared/it's here --plan /shared/it's here/plan.jsonl " +
		"--shard 7/8 --workers 3\n"
	if string(out) != want {
		t.Errorf("got  %swant %s", out, want)
	}
}

func TestArraysLargerThanTheCluster(t *testing.T) {
	s := slurmJob()
	s.Tasks, s.MaxArraySize = 250, 101 // indices 1 to 100
	got := script(t, s)
	for _, part := range []string{
		"#SBATCH --array=1-100%4\n",
		"#   sbatch --array=1-100%4 --export=ALL,MLDP_OFFSET=100 --job-name=mldp-mini-0011aabb+100 THIS_FILE\n",
		"#   sbatch --array=1-50%4 --export=ALL,MLDP_OFFSET=200 --job-name=mldp-mini-0011aabb+200 THIS_FILE\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
	chunks := s.Chunks([]int{1, 100, 101, 199, 200, 250})
	want := []struct {
		offset int
		array  string
	}{{0, "1,100"}, {100, "1,99-100"}, {200, "50"}}
	if len(chunks) != len(want) {
		t.Fatalf("%d chunks", len(chunks))
	}
	for i, c := range chunks {
		if c.Offset != want[i].offset || c.Array() != want[i].array {
			t.Errorf("chunk %d: offset %d, array %s", i, c.Offset, c.Array())
		}
	}
}

func TestSlurmCheck(t *testing.T) {
	for _, c := range []struct {
		change func(*Slurm)
		want   string
	}{
		{func(s *Slurm) { s.Tasks = 0 }, "tasks = 0: must be >= 1"},
		{func(s *Slurm) { s.Concurrent = -1 }, "concurrent = -1: must be >= 0"},
		{func(s *Slurm) { s.CPUs = 0 }, "cpus = 0: must be >= 1"},
		{func(s *Slurm) { s.Time = time.Second }, "time = 1s: must be at least a minute"},
		{func(s *Slurm) { s.Notice = s.Time }, "below the time limit"},
		{func(s *Slurm) { s.Partition = "a\nb" }, "must be one line"},
		{func(s *Slurm) { s.Extra = []string{"rm -rf /"} }, "must be an option of sbatch"},
	} {
		s := slurmJob()
		c.change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("err = %v, want %s", err, c.want)
		}
	}
}

func TestParseQueue(t *testing.T) {
	q, err := parseQueue(`mldp-a-1|3|RUNNING
mldp-a-1|7|COMPLETING
mldp-a-1|5-6%2|PENDING
mldp-a-1+1000|2|RUNNING
mldp-a-1x|9|RUNNING
mldp-a-1+x|9|RUNNING
other|9|RUNNING
mldp-a-1|N/A|RUNNING
mldp-a-1|8|REQUEUED
`, "mldp-a-1")
	if err != nil {
		t.Fatal(err)
	}
	if want := map[int]bool{3: true, 7: true, 1002: true}; !reflect.DeepEqual(q.Running, want) {
		t.Errorf("running %v", q.Running)
	}
	if want := map[int]bool{5: true, 6: true, 8: true}; !reflect.DeepEqual(q.Pending, want) {
		t.Errorf("pending %v", q.Pending)
	}
	if _, err := parseQueue("nonsense\n", "x"); err == nil {
		t.Error("no error")
	}
}

func FuzzParseQueue(f *testing.F) {
	f.Add("a|1-3|RUNNING\na+5|2|PENDING\n")
	f.Fuzz(func(t *testing.T, out string) { _, _ = parseQueue(out, "a") })
}

// A line end in a path would begin a line of the script.
func TestScriptRefusesControlCharacters(t *testing.T) {
	for _, s := range []Slurm{{Study: "a\nrm -rf ~\n.yaml"}, {WorkDir: "/a\nb"}, {Flags: []string{"--data=\x1b[2J"}}} {
		s.Tasks, s.MaxArraySize, s.CPUs, s.Time, s.Notice = 1, 100, 1, time.Hour, time.Minute
		if err := s.Script(io.Discard); err == nil || !strings.Contains(err.Error(), "must be one line") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
