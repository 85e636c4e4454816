//go:build unix

package external

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/stream"
)

// lineTo writes a line to a connection and returns the line that comes back, "" where none does.
func lineTo(t *testing.T, c net.Conn, from *bufio.Reader, line string) string {
	t.Helper()
	_, err := fmt.Fprintln(c, line)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := from.ReadString('\n')
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return answer
}

// TestServeSocket: programs have connections of their own to a socket that is this user's alone. What
// one of them sends wrong ends its connection only, and is told.
func TestServeSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said := make(chan error, 1)
	upper := func(_ context.Context, q Request, _ []stream.Seed) (Answer, error) {
		return Answer{Texts: []string{strings.ToUpper(q.Texts[0])}}, nil
	}
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		served := Served{Hello: Hello{Name: "upper"}, Handle: upper, Said: func(err error) { said <- err }}
		ended <- ServeSocket(ctx, path, in, served)
	}()
	hello, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has the mode %v, want that of this user alone", info.Mode().Perm())
	}
	connections := make([]net.Conn, 2)
	readers := make([]*bufio.Reader, 2)
	for i := range connections {
		connections[i], err = net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer connections[i].Close()
		readers[i] = bufio.NewReader(connections[i])
		got, _ := readers[i].ReadString('\n')
		if got != hello {
			t.Errorf("connection %d begins with %q, want the hello %q", i, got, hello)
		}
	}
	request := `{"id":7,"epsilon":1,"texts":["a"],"seeds":["` + strings.Repeat("0", 64) + `"]}`
	const want = `{"id":7,"texts":["A"]}` + "\n"
	for _, i := range []int{1, 0, 1} {
		got := lineTo(t, connections[i], readers[i], request)
		if got != want {
			t.Errorf("connection %d: got %q, want %q", i, got, want)
		}
	}
	got := lineTo(t, connections[0], readers[0], "nonsense")
	if got != "" {
		t.Errorf("nonsense is answered with %q, want the end of its connection", got)
	}
	wrong := <-said
	if !strings.Contains(wrong.Error(), "not a line of the protocol") {
		t.Errorf("said %q of nonsense, want that it is no line of the protocol", wrong)
	}
	got = lineTo(t, connections[1], readers[1], request)
	if got != want {
		t.Errorf("the other connection: got %q, want %q", got, want)
	}
	cancel()
	err = <-ended
	if err != context.Canceled {
		t.Errorf("ended with %v, want that it was cancelled", err)
	}
	_, err = os.Stat(path)
	if !os.IsNotExist(err) {
		t.Errorf("the socket after the end: %v, want none", err)
	}
}
