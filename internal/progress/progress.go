// Package progress shows the progress of a number of steps: on a terminal as a
// bar with an estimate of the time left, elsewhere as plain lines, so log files
// stay readable.
package progress

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"mldpbench/internal/check"
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
	late     bool     // nothing is shown yet
	display  *Display // of Start
}

// interval is the shortest time between two plain lines.
const interval = 10 * time.Second

// New returns a Reporter that counts to total, steps of so much work in all.
// what is the name of the steps in the plural.
func New(out io.Writer, what string, total int, work float64) *Reporter {
	r := &Reporter{out: out, what: what, total: total, work: work, now: time.Now}
	r.start = r.now()
	r.lastLine = r.start
	r.show()
	return r
}

// show draws the bar, on a terminal.
func (r *Reporter) show() {
	if f, ok := r.out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		r.bar = progressbar.NewOptions(r.total,
			progressbar.OptionSetWriter(r.out),
			progressbar.OptionSetDescription(r.what),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false), // it goes by the number of steps
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionFullWidth(),
			progressbar.OptionClearOnFinish(),
		)
	}
}

// Add counts n more steps of so much work together; label describes the last
// one.
func (r *Reporter) Add(n int, work float64, label string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += n
	r.worked += work
	now, left := r.now(), ""
	if r.late {
		if now.Sub(r.start) < patience || r.done >= r.total {
			return
		}
		r.late = false
		r.show()
	}
	if r.worked > 0 && r.done < r.total {
		rest := time.Duration(float64(now.Sub(r.start)) / r.worked * max(0, r.work-r.worked))
		left = fmt.Sprintf(", about %s left", rest.Round(time.Second))
	}
	if r.bar != nil {
		r.bar.Describe(r.what + left)
		_ = r.bar.Set(r.done) // a bar that cannot be drawn is not a reason to stop
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
	fmt.Fprintln(r.out, check.Shown(fmt.Sprintf(format, args...)))
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
	if d := r.display; d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.active == r {
			d.active = nil
		}
	}
}

// Display shows the work of a context, one Reporter at a time.
type Display struct {
	out    io.Writer
	mu     sync.Mutex
	active *Reporter
}

// patience is how long work may take before a Display shows it.
const patience = 3 * time.Second

type displayKey struct{}

// NewDisplay returns a Display and a context whose work it shows.
func NewDisplay(ctx context.Context, out io.Writer) (*Display, context.Context) {
	d := &Display{out: out}
	return d, context.WithValue(ctx, displayKey{}, d)
}

// Silence ends the display.
func (d *Display) Silence() { d.out = io.Discard }

// Silent returns a context whose work no Display shows, for parts of work that is
// shown otherwise.
func Silent(ctx context.Context) context.Context {
	return context.WithValue(ctx, displayKey{}, (*Display)(nil))
}

// Hide removes the bar until the next step, for other output on the terminal.
func (d *Display) Hide() {
	d.mu.Lock()
	r := d.active
	d.mu.Unlock()
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bar != nil {
		_ = r.bar.Clear()
	}
}

// Start is New for work that may be short, or a part of other work: it is shown
// by the Display of ctx, if any, once it has taken three seconds, and not beside
// another Reporter. It must be closed.
func Start(ctx context.Context, what string, total int, work float64) *Reporter {
	r := &Reporter{out: io.Discard, what: what, total: total, work: work, now: time.Now, late: true}
	r.start = r.now()
	d, ok := ctx.Value(displayKey{}).(*Display)
	if !ok || d == nil {
		return r
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.active == nil {
		r.out, r.display, d.active = d.out, d, r
	}
	return r
}

// File shows how much of a file has been read, as Start does. done ends it.
func File(ctx context.Context, f *os.File) (r io.Reader, done func()) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, func() {}
	}
	total := max(1, int(info.Size()/kilobyte))
	w := &watched{file: f, bar: Start(ctx, "kB", total, float64(total))}
	return w, w.bar.Close
}

const kilobyte = 1000

type watched struct {
	file *os.File
	bar  *Reporter
	read int
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.file.Read(p)
	if more := (w.read+n)/kilobyte - w.read/kilobyte; more > 0 {
		w.bar.Add(more, float64(more), w.file.Name())
	}
	w.read += n
	return n, err
}
