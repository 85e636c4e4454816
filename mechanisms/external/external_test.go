//go:build unix

package external

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// TestMain lets the test binary act as a client.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "client" {
		if err := client(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const goodHello = `{"protocol":1,"name":"upper","version":"2","repeatable":true,"guarantee":{"metric":"discrete",` +
	`"factor":0.5,"reason":"it is a test"},"parameters":{"n":3,"list":[1,2]}}`

// client answers in upper case, or texts at random though its hello
// says that it can be repeated; "parent" asks a client that never answers.
func client(how string) error {
	h, err := parseHello([]byte(goodHello), MechanismRole)
	if err != nil {
		return err
	}
	ctx, no := context.Background(), false
	switch how {
	case "parent":
		c, err := Open(ctx, []string{"/bin/sh", "-c", `echo $$ >"$1"; echo "$0"; exec sleep 1000`, goodHello, os.Args[3]},
			Options{})
		if err != nil {
			return err
		}
		m, _ := c.At(1)
		_, err = m.Rewrite(ctx, documents(), seeds(3))
		return err
	case "honestly random":
		h.Repeatable = false
	case "paraphrase":
		h.Aligned, h.Input = &no, Text
	}
	handle := func(_ context.Context, q Request, _ []stream.Seed) (a Answer, err error) {
		for _, t := range q.Texts {
			a.Texts = append(a.Texts, "a paraphrase of "+t)
		}
		for _, d := range q.Documents {
			for i, t := range d {
				if d[i] = strings.ToUpper(t); how != "upper" {
					d[i] += rand.Text()
				}
			}
		}
		a.Documents = q.Documents
		return a, nil
	}
	return Serve(ctx, os.Stdin, os.Stdout, h, handle)
}

// opened is a client of the test binary, at an epsilon.
func opened(t testing.TB, how string, epsilon float64) *Mechanism {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(context.Background(), []string{self, "client", how}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return at(t, c, epsilon)
}

// shell is a client that is a script. HELLO in it is a good hello, and its
// processes, with those that CHILD starts, are kept in the file pids.
func shell(t *testing.T, script string) (c *Command, pids string, err error) {
	t.Helper()
	pids = filepath.Join(t.TempDir(), "pids")
	script = strings.NewReplacer("HELLO", `echo "$1"; read request`,
		"CHILD", `sleep 1000 & echo $! >>"$0"; wait`).Replace(script)
	c, err = Open(t.Context(), []string{"/bin/sh", "-c", `echo $$ >>"$0"; ` + script, pids, goodHello}, Options{})
	if c != nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, pids, err
}

// gone fails unless every recorded process has ended.
func gone(t *testing.T, pids string) {
	t.Helper()
	data, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(data))
	if len(fields) == 0 {
		t.Fatal("no process was started")
	}
	for _, f := range fields {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		// A killed grandchild is reaped by init, which may take a moment.
		for i := 0; !dead(pid); i++ {
			if i == 6000 {
				t.Errorf("process %d is still there", pid)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// dead reports whether a process has ended; a zombie counts as ended.
func dead(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func documents() [][]string { return [][]string{{"the", "food"}, {}, {"was", "good", "indeed"}} }

func seeds(n int) []stream.Seed {
	s := make([]stream.Seed, n)
	for i := range s {
		s[i] = stream.FromUint64(5).At(uint64(i))
	}
	return s
}

func TestACommandIsAMechanism(t *testing.T) {
	t.Parallel()
	m := opened(t, "upper", 4)
	out, err := m.Rewrite(t.Context(), documents(), seeds(3))
	if want := [][]string{{"THE", "FOOD"}, {}, {"WAS", "GOOD", "INDEED"}}; err != nil || !reflect.DeepEqual(out, want) {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
	s, g := m.Settings(), m.Guarantee()
	if s.Mechanism != "upper" || s.Variant != mechanisms.External {
		t.Errorf("settings %+v", s)
	}
	if g.Metric != "discrete" || g.Epsilon != 2 || !strings.Contains(g.Reason,
		"declared by the command, not proved here: it is a test") {
		t.Errorf("guarantee %+v", g)
	}
	if !m.Aligned() || !m.Repeatable() {
		t.Error("aligned and repeatable are declared")
	}
	// The same through mechanisms.Rewrite, whatever the workers.
	many := slices.Repeat(documents(), 3000)
	for _, workers := range []int{1, 4} {
		out, err := mechanisms.Rewrite(t.Context(), m, many, seedsOf(stream.FromUint64(5)), workers)
		if err != nil || len(out) != len(many) || out[3000][0] != "THE" {
			t.Fatalf("%d workers: %d documents, %v", workers, len(out), err)
		}
	}
	if _, err := m.command.At(-1); err == nil || !strings.Contains(err.Error(), "epsilon = -1: must be > 0 and finite") {
		t.Errorf("epsilon -1: %v", err)
	}
}

// TestMisbehaviourIsOneClearError also checks that a bad client leaves neither
// a process nor a goroutine, and that the command can be asked again.
func TestMisbehaviourIsOneClearError(t *testing.T) {
	answers := func(json string) string { return "HELLO; echo '" + json + "'; read more" }
	before := runtime.NumGoroutine()
	for _, test := range []struct {
		script string
		want   string // part of the error
	}{
		{"echo first line >&2; echo no vectors.txt here >&2; exit 3", "its hello: ended (exit status 3)\n" +
			"the end of its standard error:\n\tfirst line\n\tno vectors.txt here"},
		{"echo Loading model ...; CHILD", `its hello: not a line of the protocol: invalid character 'L' looking for ` +
			`beginning of value: "Loading model ..."`},
		{`echo '{"protocol":3,"name":"x","version":"","repeatable":true}'; CHILD`, "its hello: protocol = 3: must be 1 or 2"},
		{`echo '{"protocol":2,"role":"model","name":"x","version":""}'; CHILD`, `role = "model": must be ""`},
		{`echo "$1" | sed s/discrete/a/ | sed s/0.5/-1/; CHILD`, "guarantee: factor = -1: must be >= 0 and finite"},
		{"HELLO; echo KeyError >&2; printf '{\"id\"'; exit 1", "its answer: ended (exit status 1)\n" +
			"the end of its standard error:\n\tKeyError"},
		{"HELLO; yes word | tr -d '\\n'", "a line longer than 10485760 bytes"},
		{"HELLO; yes error | head -n 100000 >&2; exit 1", "\n\terror\n\terror"},
		{"HELLO; yes another line", "not a line of the protocol"},
		{answers("0.5 0.25 done"), "not a line of the protocol"},
		{"HELLO; printf '{\"id\":1,\"documents\":[[\"caf\\351\"]]}\\n'", "not UTF-8"},
		{answers(`{"id":8,"documents":[]}`), `must have the id of the request, 1: "{`},
		{answers(`{"id":1,"document":[]}`), "unknown field"},
		{answers(`{"id":1,"documents":[]} {}`), "more than one object"},
		{answers(`null`), "must have the id of the request, 1: \"null"},
		{answers(`{"id":1,"documents":[["a"],[],["b"]]}`), "answer 1 of 3: 1 tokens for 2"},
		{answers(`{"id":1,"documents":[["a","b"],[]]}`), "2 answers for 3"},
		{answers(`{"id":1,"documents":[["two words","b"],[],["c","d","e"]]}`), `"two words": must be one word`},
		{answers(`{"id":1,"documents":[["\u001b[31mred","b"],[],["c","d","e"]]}`),
			`"\x1b[31mred": must be one word without control`},
		{answers(`{"id":1,"error":"epsilon is too small for me"}`), `the command says: "epsilon is too small for me"`},
		{answers(`{"id":1,"undefined":"needs epsilon > 7"}`), "needs epsilon > 7"},
	} {
		t.Run(test.script, func(t *testing.T) {
			c, pids, err := shell(t, test.script)
			for range 2 { // the second time it may be another process
				if c == nil || err != nil {
					break
				}
				_, err = at(t, c, 1).Rewrite(t.Context(), documents(), seeds(3))
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 4000 {
				t.Errorf("error %v, want %q", err, test.want)
			}
			var undefined *mechanisms.UndefinedError // which is a result
			if strings.Contains(test.script, "undefined") != errors.As(err, &undefined) {
				t.Errorf("%v", err)
			}
			if c != nil {
				c.Close()
			}
			gone(t, pids)
		})
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 6000 {
			buffer := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before,
				buffer[:runtime.Stack(buffer, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestAnExtraAnswerIsNotTakenForTheNext(t *testing.T) {
	t.Parallel()
	c, _, err := shell(t, `HELLO; echo '{"id":1,"documents":[]}'; echo '{"id":1,"documents":[]}'; read more`)
	if err != nil {
		t.Fatal(err)
	}
	none := func(Answer) error { return nil }
	if err := c.ask(t.Context(), &Request{}, none); err != nil {
		t.Fatal(err)
	}
	if err := c.ask(t.Context(), &Request{}, none); err == nil || !strings.Contains(err.Error(), "the request, 2: ") {
		t.Errorf("%v", err)
	}
}

func TestCancellingEndsTheProcess(t *testing.T) {
	t.Parallel()
	c, pids, err := shell(t, "HELLO; CHILD")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for { // until the child is there
			if data, _ := os.ReadFile(pids); strings.Count(string(data), "\n") == 2 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := at(t, c, 1).Rewrite(ctx, documents(), seeds(3)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	gone(t, pids)
}

// A command ends with the program, even where that is killed.
func TestCommandsEndWithTheProgram(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere it ends when it reads the end of its input")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pids := filepath.Join(t.TempDir(), "pids")
	parent := exec.Command(self, "client", "parent", pids)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	for data := []byte{}; !bytes.HasSuffix(data, []byte("\n")); data, _ = os.ReadFile(pids) {
		time.Sleep(5 * time.Millisecond)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	gone(t, pids)
}

func TestABrokenWordIsFoundOut(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]bool{"random": true, "honestly random": false, "upper": false, "paraphrase": false} {
		m := opened(t, how, 1)
		err := m.CheckRepeatable(t.Context(), documents(), stream.FromUint64(1))
		if (err != nil && strings.Contains(err.Error(), "declares to be repeatable, but")) != want || err != nil && !want {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// The key of a command changes with each thing that its output depends on.
func TestKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "vectors.txt"), filepath.Join(dir, "folder")
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "a 1\n")
	write(filepath.Join(folder, "in", "x"), "1")
	seen := map[string]bool{}
	expect := func(what string, fresh bool, h Hello, args ...string) {
		t.Helper()
		key, err := keyOf(append([]string{"client", "--vectors=" + file, folder}, args...), h)
		if err != nil || seen[key] == fresh {
			t.Errorf("%s: the key is new: %v, %v", what, !seen[key], err)
		}
		seen[key] = true
	}
	expect("first", true, Hello{})
	expect("nothing changed", false, Hello{})
	expect("another hello", true, Hello{Version: "2"})
	expect("another argument", true, Hello{}, "--more")
	write(file, "a 2\n")
	expect("another file", true, Hello{})
	write(filepath.Join(folder, "in", "x"), "2")
	expect("another file in a folder", true, Hello{})
}

func TestSplit(t *testing.T) {
	t.Parallel()
	args, err := Split(`python3 "my file.py" --epsilon\ 2 'x y'`)
	if want := []string{"python3", "my file.py", "--epsilon 2", "x y"}; err != nil || !slices.Equal(args, want) {
		t.Errorf("%q, %v", args, err)
	}
	if args, err := Split("echo $HOME `x`"); err != nil || !slices.Equal(args, []string{"echo", "$HOME", "`x`"}) {
		t.Errorf("what only a shell would replace becomes %q, %v", args, err)
	}
	for _, bad := range []string{"", "  ", "a | b", "a; b", "a > b", "a 'b", "a && b"} {
		if args, err := Split(bad); err == nil {
			t.Errorf("%q gives %q", bad, args)
		}
	}
}

func seedsOf(seed stream.Seed) func(int) stream.Seed {
	return func(i int) stream.Seed { return seed.At(uint64(i)) }
}

func at(t testing.TB, c *Command, epsilon float64) *Mechanism {
	t.Helper()
	m, err := c.At(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// BenchmarkServed measures words per second through the protocol.
func BenchmarkServed(b *testing.B) {
	m := opened(b, "upper", 1)
	document := slices.Repeat([]string{"the", "food", "was", "good", "indeed", "here"}, 20)
	documents := slices.Repeat([][]string{document}, 16)
	for b.Loop() {
		if _, err := m.Rewrite(context.Background(), documents, seeds(16)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*16*len(document))/b.Elapsed().Seconds(), "words/s")
}
