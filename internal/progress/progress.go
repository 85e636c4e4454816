// Package progress shows the progress of a number of steps: on a terminal as a
// bar with an estimate of the time left, elsewhere as plain lines, so log files
// stay readable.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Reporter counts steps towards a total. Steps may differ in work, and the
// estimate of the time left goes by work. It is safe for concurrent use.
type Reporter struct {
	mu       sync.Mutex
	out      io.Writer
	bar      *progressbar.ProgressBar // nil without a terminal
	what     string
	total    int
	done     int
	work     float64 // of all steps, in any unit
	worked   float64
	start    time.Time
	lastLine time.Time
	now      func() time.Time
}

// interval is the shortest time between two plain lines.
const interval = 10 * time.Second

// New returns a Reporter that counts to total, steps of so much work in all.
// what is the name of the steps in the plural.
func New(out io.Writer, what string, total int, work float64) *Reporter {
	r := &Reporter{out: out, what: what, total: total, work: work, now: time.Now}
	r.start = r.now()
	r.lastLine = r.start
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		r.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetDescription(what),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false), // it goes by the number of steps
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionFullWidth(),
			progressbar.OptionClearOnFinish(),
		)
	}
	return r
}

// Add counts n more steps of so much work together; label describes the last
// one.
func (r *Reporter) Add(n int, work float64, label string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += n
	r.worked += work
	now, left := r.now(), ""
	if r.worked > 0 && r.done < r.total {
		rest := time.Duration(float64(now.Sub(r.start)) / r.worked * max(0, r.work-r.worked))
		left = fmt.Sprintf(", about %s left", rest.Round(time.Second))
	}
	if r.bar != nil {
		r.bar.Describe(r.what + left)
		_ = r.bar.Add(n) // a bar that cannot be drawn is not a reason to stop
		return
	}
	if r.done < r.total && now.Sub(r.lastLine) < interval {
		return
	}
	r.lastLine = now
	fmt.Fprintf(r.out, "%s %d/%d%s: %s\n", r.what, r.done, r.total, left, label)
}

// Note prints a separate line in addition to the bar.
func (r *Reporter) Note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bar != nil {
		_ = r.bar.Clear()
	}
	fmt.Fprintf(r.out, format+"\n", args...)
	if r.bar != nil {
		_ = r.bar.RenderBlank()
	}
}

// Close removes the bar.
func (r *Reporter) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bar != nil {
		_ = r.bar.Exit()
		_ = r.bar.Clear()
		r.bar = nil
	}
}
