// Package progress shows the progress of a number of steps: on a terminal as a bar with an estimate of the time left,
// elsewhere as plain lines, so log files stay readable.
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

const (
	interval = 10 * time.Second // the shortest time between two plain lines
	patience = 3 * time.Second  // how long work may take before a Display shows it
)

// Reporter counts steps towards a total. It is safe for concurrent use.
type Reporter struct {
	mu              sync.Mutex
	out             io.Writer
	bar             *progressbar.ProgressBar // nil without a terminal
	what            string
	total, done     int
	start, lastLine time.Time
	late            bool     // nothing is shown yet
	display         *Display // of Start
	now             func() time.Time
}

// New returns a Reporter that counts to total. what is the name of the steps in the
// plural.
func New(out io.Writer, what string, total int) *Reporter {
	r := &Reporter{
		out:      out,
		what:     what,
		total:    total,
		start:    time.Now(),
		lastLine: time.Now(),
		now:      time.Now,
	}
	r.show()
	return r
}

// show draws the bar, on a terminal.
func (r *Reporter) show() {
	if f, ok := r.out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		r.bar = progressbar.NewOptions(r.total, progressbar.OptionSetWriter(r.out),
			progressbar.OptionSetDescription(r.what), progressbar.OptionShowCount(), progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
}

// Add counts n more steps; label describes the last one.
func (r *Reporter) Add(n int, label string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += n
	now := r.now()
	left := ""
	if r.late {
		if now.Sub(r.start) < patience || r.done >= r.total {
			return
		}
		r.late = false
		r.show()
	}
	if r.bar != nil {
		_ = r.bar.Set(r.done) // a bar that cannot be drawn is not a reason to stop
		return
	}
	if r.done < r.total {
		if now.Sub(r.lastLine) < interval {
			return
		}
		rest := float64(now.Sub(r.start)) / float64(r.done) * float64(r.total-r.done)
		left = fmt.Sprintf(", about %s left", time.Duration(rest).Round(time.Second))
	}
	r.lastLine = now
	fmt.Fprintf(r.out, "%s %d/%d%s: %s\n", r.what, r.done, r.total, left, label)
}

// Note prints a separate line in addition to the bar.
func (r *Reporter) Note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hide()
	fmt.Fprintln(r.out, check.Shown(fmt.Sprintf(format, args...)))
}

// hide removes the bar until it is drawn again, with the next step.
func (r *Reporter) hide() {
	if r.bar != nil {
		_ = r.bar.Clear()
	}
}

// Close removes the bar.
func (r *Reporter) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hide()
	r.bar = nil
	r.out = io.Discard
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
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.hide()
	}
}

// Note prints a line on the Display of ctx, if any.
func Note(ctx context.Context, format string, args ...any) {
	d, _ := ctx.Value(displayKey{}).(*Display)
	if d != nil {
		d.Hide()
		fmt.Fprintln(d.out, check.Shown(fmt.Sprintf(format, args...)))
	}
}

// Start is New for work that may be short, or a part of other work: it is shown
// by the Display of ctx, if any, once it has taken three seconds, and not beside
// another Reporter. It must be closed.
func Start(ctx context.Context, what string, total int) *Reporter {
	r := &Reporter{
		out:   io.Discard,
		what:  what,
		total: total,
		start: time.Now(),
		now:   time.Now,
		late:  true,
	}
	if d, _ := ctx.Value(displayKey{}).(*Display); d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.active == nil {
			r.out = d.out
			r.display = d
			d.active = r
		}
	}
	return r
}

// File shows how much of a file has been read, as Start does. done ends it.
func File(ctx context.Context, f *os.File) (r io.Reader, done func()) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, func() {}
	}
	w := &watched{f, Start(ctx, "kB", max(1, int(info.Size()/1000))), 0}
	return w, w.bar.Close
}

type watched struct {
	file *os.File
	bar  *Reporter
	read int
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.file.Read(p)
	if more := (w.read+n)/1000 - w.read/1000; more > 0 {
		w.bar.Add(more, w.file.Name())
	}
	w.read += n
	return n, err
}
