// Package cluster writes the files with which a scheduler runs a schedule of
// experiments: a Slurm job script and lists of tasks.
//
// It relies on the scheduler that a research group already has: there is no
// server, no lock file (shared file systems do not support them reliably) and
// no state except the results folder. It submits with sbatch, queries with
// squeue, and does nothing else to a cluster.
package cluster

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// DefaultMaxArraySize is Slurm's own default; task numbers are below it.
const DefaultMaxArraySize = 1001

// Slurm describes one job array.
type Slurm struct {
	Name         string        // of the job
	Program      string        // path of mldp on the nodes
	Study        string        // name or file
	Flags        []string      // flags of mldp run that select what is run
	Out          string        // shared folder of the results
	Plan         string        // schedule file
	WorkDir      string        // where mldp is started
	Tasks        int           // of the schedule
	Concurrent   int           // tasks at a time; 0 leaves it to the cluster
	MaxArraySize int           // of the cluster
	CPUs         int           // per task
	Memory       string        // per task, as sbatch reads it
	Time         time.Duration // limit of a task
	Notice       time.Duration // USR1 is sent this long before the limit
	Partition    string
	Extra        []string // further sbatch options, each as one word
}

// Check validates values that sbatch would reject late or misread.
func (s *Slurm) Check() error {
	for _, err := range []error{
		check.AtLeast("tasks", s.Tasks, 1), check.AtLeast("concurrent", s.Concurrent, 0),
		check.AtLeast("maximum array size", s.MaxArraySize, 2), check.AtLeast("cpus", s.CPUs, 1),
	} {
		if err != nil {
			return err
		}
	}
	if s.Time < time.Minute {
		return fmt.Errorf("time = %v: must be at least a minute, Slurm's unit", s.Time)
	}
	if s.Notice < time.Second || s.Notice >= s.Time || s.Notice > 65535*time.Second {
		return fmt.Errorf("notice = %v: must be at least a second, below the time limit of %v, and at most 65535 s",
			s.Notice, s.Time)
	}
	for name, text := range map[string]string{"job name": s.Name, "memory": s.Memory, "partition": s.Partition,
		"working folder": s.WorkDir, "results folder": s.Out, "study": s.Study, "program": s.Program, "plan": s.Plan,
		"flags": strings.Join(s.Flags, " ")} {
		if strings.ContainsFunc(text, unicode.IsControl) {
			return fmt.Errorf("%s %q: must be one line", name, text)
		}
	}
	for _, e := range s.Extra {
		if !strings.HasPrefix(e, "-") || strings.ContainsAny(e, "\n\r") {
			return fmt.Errorf("extra = %q: must be an option of sbatch such as --account=x", e)
		}
	}
	return nil
}

// Chunk is the part of a job that fits one array: tasks First … Last of the
// schedule are array indices First-Offset … Last-Offset.
type Chunk struct {
	Offset int
	Tasks  []int // of the schedule
}

// Array returns the chunk as sbatch --array reads it, without a cap.
func (c Chunk) Array() string {
	indices := list.Map(c.Tasks, func(t int) int { return t - c.Offset })
	return FormatArray(indices)
}

// Chunks splits tasks of a schedule so that no array index reaches
// MaxArraySize.
func (s *Slurm) Chunks(tasks []int) []Chunk {
	size := s.MaxArraySize - 1 // indices are 1 to size
	var chunks []Chunk
	for _, t := range slices.Sorted(slices.Values(tasks)) {
		offset := (t - 1) / size * size
		if n := len(chunks); n == 0 || chunks[n-1].Offset != offset {
			chunks = append(chunks, Chunk{Offset: offset})
		}
		last := &chunks[len(chunks)-1]
		last.Tasks = append(last.Tasks, t)
	}
	return chunks
}

// AllTasks returns the tasks 1 … Tasks.
func (s *Slurm) AllTasks() []int {
	tasks := make([]int, s.Tasks)
	for i := range tasks {
		tasks[i] = i + 1
	}
	return tasks
}

// limited adds the cap on tasks at a time.
func (s *Slurm) limited(array string) string {
	if s.Concurrent > 0 {
		array += "%" + strconv.Itoa(s.Concurrent)
	}
	return array
}

// SubmitArgs returns the arguments of sbatch that submit one chunk of the
// script in file; they override the script's own --array.
func (s *Slurm) SubmitArgs(c Chunk, file string) []string {
	args := []string{"--array=" + s.limited(c.Array())}
	if c.Offset > 0 {
		args = append(args, fmt.Sprintf("--export=ALL,MLDP_OFFSET=%d", c.Offset),
			fmt.Sprintf("--job-name=%s+%d", s.Name, c.Offset))
	}
	return append(args, file)
}

//go:embed job.sbatch
var jobScript string

var slurmScript = template.Must(template.New("sbatch").Funcs(template.FuncMap{"quote": Quote, "option": option}).
	Parse(jobScript))

// option writes a value of an #SBATCH line, which sbatch splits at spaces like a
// shell.
func option(value string) string {
	if !strings.ContainsAny(value, " \t\"'\\") {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// Script writes the job script. Its #SBATCH lines submit the first chunk.
func (s *Slurm) Script(w io.Writer) error {
	if err := s.Check(); err != nil {
		return err
	}
	chunks := s.Chunks(s.AllTasks())
	view := struct {
		*Slurm
		Array, LogFile, Limit       string
		NoticeSeconds, LargestIndex int
		Rest                        []string
	}{
		Slurm: s, Array: s.limited(chunks[0].Array()), LogFile: filepath.Join(s.Out, "logs", "%A_%a.log"),
		Limit:         formatLimit(s.Time),
		NoticeSeconds: int(s.Notice.Seconds()), LargestIndex: s.MaxArraySize - 1,
	}
	for _, c := range chunks[1:] {
		view.Rest = append(view.Rest, strings.Join(s.SubmitArgs(c, "THIS_FILE"), " "))
	}
	return slurmScript.Execute(w, view)
}

// formatLimit writes a duration as days-hours:minutes:seconds, rounded up to
// whole minutes, in which Slurm keeps limits.
func formatLimit(d time.Duration) string {
	minutes := int((d + time.Minute - 1) / time.Minute)
	return fmt.Sprintf("%d-%02d:%02d:00", minutes/(24*60), minutes/60%24, minutes%60)
}

// Quote quotes any text as one shell word.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("%+,-./:=@_", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Submit submits one chunk of the script in file with sbatch and returns the
// job id.
func (s *Slurm) Submit(ctx context.Context, c Chunk, file string) (string, error) {
	out, err := command(ctx, "sbatch", append([]string{"--parsable"}, s.SubmitArgs(c, file)...)...)
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // "id;cluster" in a federation
	return id, nil
}

// MaxArraySize returns the cluster's value, or DefaultMaxArraySize where there
// is no cluster.
func MaxArraySize(ctx context.Context) (int, error) {
	if _, err := exec.LookPath("scontrol"); err != nil {
		return DefaultMaxArraySize, nil
	}
	out, err := command(ctx, "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(out) {
		name, value, ok := strings.Cut(line, "=")
		if ok && strings.TrimSpace(name) == "MaxArraySize" {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return DefaultMaxArraySize, nil
}

// Queue holds the tasks of a schedule that are in the cluster's queue.
type Queue struct {
	Running map[int]bool
	Pending map[int]bool
}

// ErrNoQueue is returned where there is no squeue.
var ErrNoQueue = errors.New("no squeue on this machine")

// ReadQueue asks squeue for the jobs of this name, including those with
// offsets.
func ReadQueue(ctx context.Context, name string) (Queue, error) {
	if _, err := exec.LookPath("squeue"); err != nil {
		return Queue{}, ErrNoQueue
	}
	out, err := command(ctx, "squeue", "--noheader", "--array", "--format=%j|%K|%T")
	if err != nil {
		return Queue{}, err
	}
	return parseQueue(out, name)
}

// parseQueue reads lines of "job name|array index|state".
func parseQueue(out, name string) (Queue, error) {
	q := Queue{Running: map[int]bool{}, Pending: map[int]bool{}}
	lines := bufio.NewScanner(strings.NewReader(out))
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "|")
		if len(fields) != 3 {
			return q, fmt.Errorf("squeue: cannot read %q", lines.Text())
		}
		rest, ok := strings.CutPrefix(fields[0], name)
		offset := 0
		if ok && rest != "" {
			n, err := strconv.Atoi(strings.TrimPrefix(rest, "+"))
			ok = err == nil && rest[0] == '+'
			offset = n
		}
		if !ok || fields[1] == "N/A" {
			continue // another job
		}
		indices, err := ParseArray(fields[1])
		if err != nil {
			return q, fmt.Errorf("squeue: %w", err)
		}
		for _, i := range indices {
			switch fields[2] {
			case "RUNNING", "COMPLETING", "STOPPED", "SUSPENDED", "SIGNALING", "STAGE_OUT":
				q.Running[i+offset] = true
			default:
				q.Pending[i+offset] = true
			}
		}
	}
	return q, lines.Err()
}

// command runs a Slurm program and returns its output.
func command(ctx context.Context, program string, args ...string) (string, error) {
	var out, problem bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(problem.String())
		if text == "" {
			return "", fmt.Errorf("%s: %w", program, err)
		}
		return "", fmt.Errorf("%s: %s", program, strings.Join(strings.Fields(text), " "))
	}
	return out.String(), nil
}

// FormatArray writes task numbers the way sbatch --array reads them: "3,7-9".
// Numbers are sorted and appear once.
func FormatArray(tasks []int) string {
	tasks = slices.Compact(slices.Sorted(slices.Values(tasks)))
	var parts []string
	for i := 0; i < len(tasks); {
		j := i
		for j+1 < len(tasks) && tasks[j+1] == tasks[j]+1 {
			j++
		}
		part := strconv.Itoa(tasks[i])
		if j > i {
			part += "-" + strconv.Itoa(tasks[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// maxArray bounds the memory that a damaged list can cause to be allocated.
const maxArray = 1 << 22

// ParseArray reads task numbers in the notation of sbatch and squeue: "3,7-9",
// also with a step, "1-9:2", and a limit, "1-9%2", which is ignored.
func ParseArray(s string) ([]int, error) {
	list, _, _ := strings.Cut(s, "%")
	var tasks []int
	for part := range strings.SplitSeq(list, ",") {
		span, stepText, hasStep := strings.Cut(part, ":")
		firstText, lastText, isSpan := strings.Cut(span, "-")
		first, err := parseTask(firstText)
		last, step := first, 1
		if err == nil && isSpan {
			last, err = parseTask(lastText)
		}
		if err == nil && hasStep {
			step, err = parseTask(stepText)
		}
		if err != nil || step < 1 || last < first || (last-first)/step >= maxArray-len(tasks) {
			return nil, fmt.Errorf("array = %q: %q is not a task or a range of tasks", s, part)
		}
		for t := first; t <= last; t += step {
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

func parseTask(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err
}
