//go:build unix

package external

import (
	"bufio"
	"context"
	"encoding/json"
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

// TestMain lets the test binary act as a client with every kind of
// misbehaviour.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "client" {
		client(os.Args[2], os.Args[3:])
		return
	}
	os.Exit(m.Run())
}

const goodHello = `{"protocol":1,"name":"upper","version":"2","repeatable":true,"guarantee":{"metric":"discrete","factor":0.5,"reason":"it is a test"},"parameters":{"n":3,"list":[1,2],"word":"x","yes":true}}`

// client writes a good hello and answers documents in upper case; how selects a
// misbehaviour instead.
func client(how string, args []string) {
	record := func() { // the process, for the test that it is gone
		if len(args) > 0 {
			f, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			if err == nil {
				fmt.Fprintln(f, os.Getpid())
				f.Close()
			}
		}
	}
	record()
	if how == "serves" {
		serveCMP()
		return
	}
	forever := func() { time.Sleep(time.Hour) }
	switch how {
	case "dies at once":
		fmt.Fprintln(os.Stderr, "first line\nno vectors.txt here")
		os.Exit(3)
	case "its environment":
		fmt.Fprintln(os.Stderr, "it has", len(os.Getenv("MLDP_TEST_KEY")), "characters")
		os.Exit(3)
	case "says nothing":
		forever()
	case "parent of a client that hangs":
		_, _ = Open(context.Background(), []string{os.Args[0], "client", "says nothing", args[0]}, Options{})
		forever()
	case "rubbish hello":
		fmt.Println("Loading model ...")
		forever()
	case "another protocol":
		fmt.Println(`{"protocol":3,"name":"x","version":"","repeatable":true}`)
		forever()
	case "reads text":
		fmt.Println(`{"protocol":1,"name":"text","version":"1","repeatable":true,"aligned":false,"input":"text"}`)
	case "random":
		fmt.Println(`{"protocol":1,"name":"random","version":"1","repeatable":true}`)
	case "honestly random":
		fmt.Println(`{"protocol":1,"name":"random","version":"1","repeatable":false}`)
	case "process in the hello":
		fmt.Printf(`{"protocol":1,"name":"x","version":"%d","repeatable":true}`+"\n", os.Getpid())
	default:
		fmt.Println(goodHello)
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for n := 0; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q Request
		if err := json.Unmarshal(line, &q); err != nil {
			os.Exit(9)
		}
		out := make([][]string, len(q.Documents))
		for i, d := range q.Documents {
			out[i] = []string{}
			for _, t := range d {
				out[i] = append(out[i], strings.ToUpper(t))
			}
		}
		a := Answer{ID: &q.ID, Documents: out}
		switch how {
		case "reads text":
			a.Documents = nil
			for _, t := range q.Texts {
				a.Texts = append(a.Texts, "a paraphrase of "+t)
			}
		case "dies on a request":
			fmt.Fprintln(os.Stderr, "Traceback (most recent call last):\nKeyError: 'oil'")
			os.Exit(1)
		case "hangs":
			forever()
		case "hangs with a child":
			c := exec.Command(os.Args[0], "client", "says nothing", args[0])
			c.Stdout, c.Stderr = os.Stdout, os.Stderr // it holds the pipes open
			if c.Start() != nil {
				os.Exit(9)
			}
			forever()
		case "endless":
			for {
				os.Stdout.WriteString("word word word word word word word word word word word word ")
			}
		case "endless lines":
			for {
				os.Stdout.WriteString("another line\n")
			}
		case "floods standard error":
			for range 5000 {
				fmt.Fprintln(os.Stderr, strings.Repeat("x", 1000))
			}
			fmt.Fprintln(os.Stderr, "out of memory")
			os.Exit(1)
		case "big":
			out[0] = slices.Repeat([]string{strings.Repeat("x", 1<<20)}, 11)
		case "rubbish":
			fmt.Println("0.5 0.25 done")
			continue
		case "not UTF-8":
			fmt.Printf("{\"id\":%d,\"documents\":[[\"caf\xe9\",\"x\"]]}\n", q.ID)
			continue
		case "wrong id":
			*a.ID += 7
		case "twice":
			line, _ := json.Marshal(a)
			fmt.Println(string(line))
		case "wrong length":
			out[0] = out[0][1:]
		case "wrong count":
			a.Documents = append(out, out[0])
		case "white space":
			out[0][0] = "two words"
		case "escape":
			out[0][0] = "\x1b[31mred"
		case "zero":
			out[0][0] = "a\x00b"
		case "unknown field":
			fmt.Printf(`{"id":%d,"document":[["a","b"]]}`+"\n", q.ID)
			continue
		case "null":
			fmt.Println("null")
			continue
		case "own error":
			a = Answer{ID: &q.ID, Error: "epsilon is too small for me"}
		case "undefined":
			a = Answer{ID: &q.ID, Undefined: "needs epsilon > 7"}
		case "random", "honestly random":
			for _, d := range out {
				for i := range d {
					d[i] = strconv.Itoa(os.Getpid()) + "." + strconv.Itoa(n)
				}
			}
		}
		data, err := json.Marshal(a)
		if err != nil {
			os.Exit(9)
		}
		fmt.Println(string(data))
	}
}

// TestKilledParentTakesItsCommand kills the test binary, acting as mldp, while
// its command neither reads nor writes.
func TestKilledParentTakesItsCommand(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a command with its parent")
	}
	pids := filepath.Join(t.TempDir(), "pids")
	parent := exec.Command(os.Args[0], "client", "parent of a client that hangs", pids)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		data, _ := os.ReadFile(pids)
		if len(strings.Fields(string(data))) == 2 { // the parent and its command
			break
		}
		if i == 1000 {
			t.Fatal("the command did not start")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	gone(t, pids)
}

// open starts a client of the test binary; the file keeps its processes.
func open(t *testing.T, how string, o Options) (*Command, string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pids := filepath.Join(t.TempDir(), "pids")
	c, err := Open(context.Background(), []string{self, "client", how, pids}, o)
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
			if i == 500 {
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
	c, pids, err := open(t, "good", Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.At(4)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Rewrite(context.Background(), documents(), seeds(3))
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]string{{"THE", "FOOD"}, {}, {"WAS", "GOOD", "INDEED"}}; !reflect.DeepEqual(out, want) {
		t.Errorf("%q, want %q", out, want)
	}
	s, g := m.Settings(), m.Guarantee()
	if s.Mechanism != "upper" || s.Variant != mechanisms.External ||
		s.Parameters.String() != "list=[1,2] n=3 word=x yes=yes" {
		t.Errorf("settings %+v", s)
	}
	if g.Metric != "discrete" || g.Epsilon != 2 || !strings.Contains(g.Reason,
		"declared by the command, not proved here: it is a test") {
		t.Errorf("guarantee %+v", g)
	}
	if !m.Aligned() || !m.Repeatable() {
		t.Error("aligned and repeatable are declared")
	}
	if err := m.CheckRepeatable(context.Background(), documents(), nil, stream.FromUint64(1)); err != nil {
		t.Error(err)
	}
	// The same through mechanisms.Rewrite, whatever the workers.
	many := slices.Repeat(documents(), 3000)
	for _, workers := range []int{1, 4} {
		out, err := mechanisms.Rewrite(context.Background(), m, many, seedsOf(stream.FromUint64(5)), workers)
		if err != nil || len(out) != len(many) || out[3000][0] != "THE" {
			t.Fatalf("%d workers: %d documents, %v", workers, len(out), err)
		}
	}
	c.Close()
	if _, err := m.Rewrite(context.Background(), documents(), seeds(3)); err == nil || err.Error() != "the command is closed" {
		t.Errorf("closed: %v", err)
	}
	gone(t, pids)
	if _, err := c.At(-1); err == nil || !strings.Contains(err.Error(), "epsilon = -1: must be > 0 and finite") {
		t.Errorf("epsilon -1: %v", err)
	}
}

func TestTextsMayChangeTheirLength(t *testing.T) {
	t.Parallel()
	c, _, err := open(t, "reads text", Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.At(1)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Rewrite(context.Background(), documents(), seeds(3))
	if err != nil || m.Aligned() || !slices.Equal(out[0], []string{"a", "paraphrase", "of", "the", "food"}) {
		t.Errorf("%q, %v", out, err)
	}
	texts, err := m.RewriteTexts(context.Background(), []string{"The food!"}, seeds(1))
	if err != nil || texts[0] != "a paraphrase of The food!" {
		t.Errorf("%q, %v", texts, err)
	}
	if m.Guarantee().Holds() {
		t.Error("no guarantee is declared")
	}
}

// TestMisbehaviourIsOneClearError also checks that a bad client leaves neither
// a process nor a goroutine, and that the command can be asked again.
func TestMisbehaviourIsOneClearError(t *testing.T) {
	short := Options{Start: 30 * time.Second, Request: 300 * time.Millisecond}
	tests := []struct {
		how  string
		o    Options
		want []string // parts of the error
	}{
		{"dies at once", Options{}, []string{"ended (exit status 3) before its hello", "no vectors.txt here"}},
		{"says nothing", Options{Start: 300 * time.Millisecond}, []string{"its hello: nothing within 300ms"}},
		{"rubbish hello", Options{}, []string{"its hello: not a line of the protocol", "Loading model ..."}},
		{"another protocol", Options{}, []string{"its hello: protocol = 3: must be 1 or 2"}},
		{"dies on a request", Options{}, []string{"ended (exit status 1) before the answer to request 1",
			"the end of its standard error:\n\tTraceback (most recent call last):\n\tKeyError: 'oil'"}},
		{"hangs", short, []string{"the answer to request 1: nothing within 300ms"}},
		{"hangs with a child", short, []string{"the answer to request 1: nothing within 300ms"}},
		{"endless", Options{}, []string{"a line longer than 10485760 bytes"}},
		{"endless lines", Options{}, []string{"not a line of the protocol", "another line"}},
		{"floods standard error", Options{}, []string{"exit status 1", "out of memory"}},
		{"big", Options{}, []string{"a line longer than 10485760 bytes"}},
		{"rubbish", Options{}, []string{"not a line of the protocol"}},
		{"not UTF-8", Options{}, []string{"not UTF-8"}},
		{"wrong id", Options{}, []string{"id = 8: must be 1"}},
		{"wrong length", Options{}, []string{"document 0: 1 tokens for 2"}},
		{"wrong count", Options{}, []string{"4 documents for 3"}},
		{"white space", Options{}, []string{`document 0: token 0 = "two words": must be one word`}},
		{"escape", Options{}, []string{`document 0: token 0 = "\x1b[31mred": must be one word without control`}},
		{"zero", Options{}, []string{`document 0: token 0 = "a\x00b": must be one word without control`}},
		{"unknown field", Options{}, []string{"unknown field"}},
		{"null", Options{}, []string{"no id"}},
		{"own error", Options{}, []string{"the command says: \"epsilon is too small for me\""}},
	}
	before := runtime.NumGoroutine()
	for _, test := range tests {
		t.Run(test.how, func(t *testing.T) {
			c, pids, err := open(t, test.how, test.o)
			for range 2 { // the second time it is another process, or the same one
				if c == nil {
					break
				}
				m, aterr := c.At(1)
				if aterr != nil {
					t.Fatal(aterr)
				}
				_, err = m.Rewrite(context.Background(), documents(), seeds(3))
				if err == nil {
					t.Fatal("no error")
				}
				if test.how == "own error" {
					break // the id of the second is 2
				}
			}
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if len(err.Error()) > 4000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			if c != nil {
				c.Close()
			}
			gone(t, pids)
		})
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 500 {
			buffer := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before,
				buffer[:runtime.Stack(buffer, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestAnExtraAnswerIsNotTakenForTheNext(t *testing.T) {
	t.Parallel()
	c, _, err := open(t, "twice", Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.At(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Rewrite(context.Background(), documents(), seeds(3)); err != nil {
		t.Fatal(err)
	}
	if _, err = m.Rewrite(context.Background(), documents(), seeds(3)); err == nil ||
		!strings.Contains(err.Error(), "id = 1: must be 2") {
		t.Errorf("%v", err)
	}
}

func TestUndefinedIsAResult(t *testing.T) {
	t.Parallel()
	c, _, err := open(t, "undefined", Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.At(1)
	if err != nil {
		t.Fatal(err)
	}
	var undefined *mechanisms.UndefinedError
	if _, err = m.Rewrite(context.Background(), documents(), seeds(3)); !errors.As(err, &undefined) {
		t.Errorf("%v", err)
	}
}

func TestCancellingEndsTheProcess(t *testing.T) {
	t.Parallel()
	c, pids, err := open(t, "hangs with a child", Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.At(1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for { // until the child is there
			if data, _ := os.ReadFile(pids); strings.Count(string(data), "\n") == 2 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := m.Rewrite(ctx, documents(), seeds(3)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	gone(t, pids)
}

func TestABrokenWordIsFoundOut(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]bool{"random": true, "honestly random": false, "good": false} {
		c, _, err := open(t, how, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.At(1)
		if err != nil {
			t.Fatal(err)
		}
		err = m.CheckRepeatable(context.Background(), documents(), nil, stream.FromUint64(1))
		var broken *NotRepeatableError
		if errors.As(err, &broken) != want || err != nil && !want {
			t.Errorf("%s: %v", how, err)
		}
	}
}

func TestEveryStartMustSayTheSame(t *testing.T) {
	t.Parallel()
	c, _, err := open(t, "process in the hello", Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Restart()
	m, err := c.At(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Rewrite(context.Background(), documents(), seeds(3)); err == nil ||
		!strings.Contains(err.Error(), "not the one of its first start") {
		t.Errorf("%v", err)
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "vectors.txt")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	key := func(args ...string) (string, Identity) {
		c, err := Open(context.Background(), append([]string{self, "client", "good"}, args...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.Identity().Key(), c.Identity()
	}
	write("a 1\n")
	first, id := key(filepath.Join(dir, "pids"), "--vectors="+file)
	if len(id.Files) != 2 || id.Files[1].Name != file {
		t.Errorf("files %+v", id.Files)
	}
	os.Remove(filepath.Join(dir, "pids"))
	again, _ := key(filepath.Join(dir, "pids"), "--vectors="+file)
	if first != again {
		t.Error("an unchanged command has another key")
	}
	os.Remove(filepath.Join(dir, "pids"))
	write("a 2\n")
	changed, _ := key(filepath.Join(dir, "pids"), "--vectors="+file)
	os.Remove(filepath.Join(dir, "pids"))
	argument, _ := key(filepath.Join(dir, "pids"), "--vectors="+file, "--more")
	if changed == first || argument == changed {
		t.Error("a changed file or argument keeps the key")
	}
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

func TestNoSuchProgram(t *testing.T) {
	t.Parallel()
	if _, err := Open(context.Background(), []string{"no-such-program-anywhere"}, Options{}); err == nil ||
		!strings.Contains(err.Error(), "no-such-program-anywhere") {
		t.Errorf("%v", err)
	}
	if _, err := Open(context.Background(), nil, Options{}); err == nil {
		t.Error("an empty command is started")
	}
}

func seedsOf(seed stream.Seed) func(int) stream.Seed {
	return func(i int) stream.Seed { return seed.At(uint64(i)) }
}
