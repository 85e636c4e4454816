package cluster

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeSbatch prints a job's id, and keeps its arguments and script.
const fakeSbatch = `#!/bin/bash
n=$(ls "$KEEP" | wc -l); printf '%s\n' "$@" >"$KEEP/$n.args"; cat >"$KEEP/$n.sh"; echo "$((n + 40));cluster"
`

// TestScriptRuns runs the script with an sbatch that keeps what it is given, and
// what was submitted as Slurm would: mldp gets exactly the given arguments.
func TestScriptRuns(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	dir := t.TempDir()
	bin, keep := filepath.Join(dir, "bin"), filepath.Join(dir, "keep")
	for _, d := range []string{bin, keep} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "sbatch"), []byte(fakeSbatch), 0o755); err != nil {
		t.Fatal(err)
	}
	s := Slurm{Name: "mini", Program: "/bin/echo", Study: "my $study.yaml", Flags: []string{"--data=a b", "--models=`x`"},
		Out: "it's 10%a here", WorkDir: dir, Shards: 8, Options: []string{"--array=1-8%4", "--comment=a b"}}
	var b strings.Builder
	if err := s.Script(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n > 31 {
		t.Errorf("%d lines", n)
	}
	run := func(script string, env ...string) string {
		t.Helper()
		cmd := exec.Command(bash, "-s")
		cmd.Stdin, cmd.Env = strings.NewReader(script), append(env, "PATH="+bin+":/usr/bin:/bin", "KEEP="+keep)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	kept := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(keep, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if out := run(b.String()); out != "40;cluster 42;cluster\n" {
		t.Errorf("printed %q", out)
	}
	for _, c := range []struct{ file, want string }{
		{"0.args", "--array=1-8\n"}, {"0.args", "--array=1-8%4\n"}, {"0.args", "--comment=a b\n"},
		{"0.args", "--output=it's 10%%a here/logs/%A_%a.log\n"}, {"2.args", "--dependency=afterany:40\n"},
		{"2.args", "--output=it's 10%%a here/logs/merge.log\n"},
		{"2.args", "--comment=a b\n"},
	} {
		if got := kept(c.file); !strings.Contains(got, c.want) {
			t.Errorf("%s has no %q:\n%s", c.file, c.want, got)
		}
	}
	if args := kept("2.args"); strings.Contains(args, "--array") {
		t.Errorf("the merge is an array:\n%s", args)
	}
	want := "run my $study.yaml --data=a b --models=`x` --out it's 10%a here --shard 7/8 --workers 3\n"
	if got := run(kept("0.sh"), "SLURM_ARRAY_TASK_ID=7", "SLURM_CPUS_PER_TASK=3"); got != want {
		t.Errorf("a shard runs  %swant %s", got, want)
	}
	if got := run(kept("2.sh")); got != "merge it's 10%a here\n" {
		t.Errorf("the merge runs %s", got)
	}
}

func TestScriptRefuses(t *testing.T) {
	for _, c := range []struct {
		s    Slurm
		want string
	}{
		{Slurm{}, "shards = 0: must be >= 1"},
		{Slurm{Shards: 1, Study: "a\nrm -rf ~\n.yaml"}, "must be one line"},
		{Slurm{Shards: 1, WorkDir: "/a\nb"}, "must be one line"},
		{Slurm{Shards: 1, Flags: []string{"--data=\x1b[2J"}}, "must be one line"},
		{Slurm{Shards: 1, Options: []string{"rm -rf /"}}, "must be an option of sbatch"},
		{Slurm{Shards: 1, Options: []string{"--wrap=date"}}, "would run another command"},
		{Slurm{Shards: 1, Options: []string{"--test"}}, "submits no job"},
		{Slurm{Shards: 1, Out: `a\b`}, "must hold no backslash"},
	} {
		if err := c.s.Script(io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.s, err, c.want)
		}
	}
}

// TestMergeWaitsForTheArray looks at the last of each option that the second job is given,
// which is what sbatch takes.
func TestMergeWaitsForTheArray(t *testing.T) {
	for _, option := range []string{"--dependency=afterok:7", "--depend=singleton", "-dafterok:7", "-Hdafterok:7",
		"--array=1-2", "--arr=1-2", "-a1-2%1", "-Qa1-2"} {
		s := Slurm{Name: "mini", Program: "mldp", Study: "mini", Out: "out", WorkDir: "/", Shards: 2, Options: []string{option}}
		var b strings.Builder
		if err := s.Script(&b); err != nil {
			t.Fatalf("%s: %v", option, err)
		}
		_, array, _ := strings.Cut(b.String(), "array=$(")
		array, merge, found := strings.Cut(array, "merge=$(")
		merge, _, _ = strings.Cut(merge, "<<")
		if !found || !strings.Contains(array, " "+option) {
			t.Errorf("%s is not given to the array:\n%s", option, array)
		}
		if last := merge[strings.LastIndex(merge, " --"):]; !strings.HasPrefix(last, " --dependency=\"afterany:$") {
			t.Errorf("with %s the merge ends with %s, want its dependency on the array", option, last)
		}
		if strings.Contains(option, "a1") || strings.HasPrefix(option, "--arr") {
			if strings.Contains(merge, option) {
				t.Errorf("with %s the merge is an array: %s", option, merge)
			}
		}
	}
}
