// Package cluster writes the files with which a scheduler runs a schedule of
// experiments: a Slurm job script and lists of tasks.
//
// It relies on the scheduler that a research group already has: there is no
// server, no lock file (shared file systems do not support them reliably) and
// no state except the results folder. It submits with sbatch, queries with
// squeue, and does nothing else to a cluster.
package cluster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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
