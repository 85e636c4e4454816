package engine

import (
	"slices"
	"time"

	"mldpbench/results"
)

// sample keeps one unit of each kind of which none is finished: the middle one, as the first are of plain text.
func (w *work) sample(jobs [][]int, kinds []string) [][]int {
	left := map[string][]int{}
	for _, i := range slices.Concat(jobs...) {
		left[kinds[i]] = append(left[kinds[i]], i)
	}
	for i, rows := range w.rows {
		if rows != nil {
			delete(left, kinds[i])
		}
	}
	for j, job := range jobs {
		jobs[j] = results.Where(job, func(i int) bool {
			units := left[kinds[i]]
			return units != nil && i == units[len(units)/2]
		})
	}
	return slices.DeleteFunc(jobs, func(job []int) bool { return len(job) == 0 })
}

// pace is the time that the unfinished units will take, and that of all. A kind of which none could be run is left out.
func (w *work) pace(kinds []string) (left, whole time.Duration) {
	seconds := map[string]float64{}
	finished := map[string]float64{}
	for i, rows := range w.rows {
		if rows != nil {
			seconds[kinds[i]] += rows[0].Seconds.Float()
			finished[kinds[i]]++
		}
	}
	ofUnit := func(i int) time.Duration {
		if w.keys[i] == "" || finished[kinds[i]] == 0 {
			return 0
		}
		mean := seconds[kinds[i]] / finished[kinds[i]]
		return time.Duration(mean / float64(w.options.Workers) * float64(time.Second))
	}
	for i, rows := range w.rows {
		whole += ofUnit(i)
		if rows == nil {
			left += ofUnit(i)
		}
	}
	return left, whole
}
