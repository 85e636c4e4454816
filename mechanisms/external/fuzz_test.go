//go:build unix

package external

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// FuzzAnswer reads any bytes as a hello and as an answer: what is accepted
// must be what the rest of the program relies on.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(goodHello))
	f.Add([]byte(`{"id":1,"documents":[["a","b"],[]]}`))
	f.Add([]byte(`{"id":1,"documents":[["\ud83d\ude00","\ufffd"],null]}`))
	f.Add([]byte(`{"id":1,"texts":["a b","c"]}`))
	f.Add([]byte(`{"id":1,"undefined":"x"}`))
	f.Add([]byte(`{"id":1,"labels":[0,2]}`))
	f.Add([]byte(`{"id":1,"numbers":["AACAPwAAAMA=","AAA="]}`))
	f.Add([]byte(`{"id":1,"values":[0.5,-1e300]}`))
	f.Add([]byte("{\"id\":1,\"error\":\"\xff\"}"))
	f.Add([]byte(`{"protocol":1,"name":"x","version":"","repeatable":false,"aligned":false,"input":"text","parameters":{"a":{}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if h, err := parseHello(line, MechanismRole); err == nil {
			if h.Name == "" || check.Name("name", h.Name) != nil || h.Role != "" ||
				h.Protocol != Protocol && h.Protocol != Roles {
				t.Errorf("accepted hello %+v", h)
			}
			if g := h.guarantee(2); g.Holds() && !(g.Epsilon >= 0) {
				t.Errorf("promise of %v", g.Epsilon)
			}
		}
		if a, _, err := parseAnswer(line, 1); err == nil && *a.ID != 1 {
			t.Errorf("accepted %+v", a)
		}
	})
}

// Answers that other roles may not give.
func TestAnswersOfRoles(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		role         Role
		answer, want string // "" is valid
	}{
		{AttackerRole, `"labels":[0,2]`, ""},
		{AttackerRole, `"labels":[0]`, "1 answers for 2"},
		{AttackerRole, `"labels":[0,null]`, "answer 2 of 2: null"},
		{AttackerRole, `"labels":[3,0]`, "label = 3: must be in [0, 3)"},
		{AttackerRole, `"labels":[0.5,0]`, "a number 0.5 at"},
		{MeasurementRole, `"values":[0.5,-1e300]`, ""},
		{MeasurementRole, `"values":[0.5,null]`, "answer 2 of 2: null"},
		{MeasurementRole, `"values":[0.5,NaN]`, "invalid character 'N'"},
		{MeasurementRole, `"values":[0.5,1e999]`, "a number 1e999 at"},
		{ModelRole, `"numbers":["AACAPwAAAMA=","AACAPw=="]`, ""},
		{ModelRole, `"numbers":["AACAPwAAAMA=","AAA="]`, "answer 2 of 2: a row of 2 bytes"},
	} {
		hello := `{"protocol":2,"name":"x","version":"","role":"` + string(x.role) + `"}`
		// read takes the request away before the answer, as the shell does
		c, err := Open(t.Context(), []string{"/bin/sh", "-c", `echo "$0"; read request; echo "$1"`, hello,
			`{"id":1,` + x.answer + `}`}, Options{Role: x.role})
		if err != nil {
			t.Fatal(err)
		}
		two := []string{"x", "y"}
		switch x.role {
		case AttackerRole:
			_, err = c.Attack(t.Context(), two, []int{0, 1}, two, 3, stream.FromUint64(1))
		case MeasurementRole:
			_, err = c.Compare(t.Context(), two, two)
		case ModelRole:
			_, err = c.Numbers(t.Context(), &Request{Encode: two}, 2, 0)
		}
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v, want %q", x.answer, err, x.want)
		}
		_ = c.Close()
	}
}

// FuzzServe gives any bytes to the serving side: it must answer or end with an
// error, and every answer must be one that the asking side can read.
func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"id":1,"epsilon":2,"seeds":["` + strings.Repeat("0", 64) + `"],"documents":[["a"]]}` + "\n"))
	f.Add([]byte(`{"id":2,"epsilon":2,"seeds":["` + strings.Repeat("f", 64) + `"],"texts":["a b"]}` + "\n\n{}\n"))
	f.Add([]byte(`{"id":3,"epsilon":-1,"seeds":[]}` + "\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		handle := func(_ context.Context, q Request, s []stream.Seed) (Answer, error) {
			if len(q.Documents)+len(q.Texts) != len(s) {
				t.Errorf("%d seeds for %d documents", len(s), len(q.Documents))
			}
			return Answer{Documents: q.Documents, Texts: q.Texts}, nil
		}
		// an error is an answer too
		_ = Serve(context.Background(), bytes.NewReader(in), &out, Hello{Name: "x", Repeatable: true}, handle)
		lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
		if _, err := parseHello([]byte(lines[0]), MechanismRole); err != nil {
			t.Error(err)
		}
		for _, line := range lines[1:] {
			var a Answer
			if err := decode([]byte(line), &a); err != nil || a.ID == nil {
				t.Errorf("answer %q: %v", line, err)
			}
		}
	})
}

func TestServeAnswersErrors(t *testing.T) {
	seed := strings.Repeat("0", 64)
	in := `{"id":1,"epsilon":2,"seeds":["` + seed + `"],"documents":[["a"]]}
{"id":2,"epsilon":0,"seeds":["` + seed + `"],"documents":[["a"]]}
{"id":3,"epsilon":2,"seeds":["12"],"documents":[["a"]]}
{"id":4,"epsilon":2,"seeds":[],"documents":[["a"]]}
{"id":5,"epsilon":9,"seeds":["` + seed + `"],"documents":[["a"]]}
{"id":6,"epsilon":8,"seeds":["` + seed + `"],"texts":["a  b"]}` // the last request has no line end
	var out bytes.Buffer
	handler := func(_ context.Context, q Request, _ []stream.Seed) (Answer, error) {
		if q.Epsilon == 9 {
			return Answer{}, &mechanisms.UndefinedError{Reason: "not at 9"}
		}
		return Answer{Documents: q.Documents, Texts: q.Texts, Words: uint64(2 * len(q.Texts))}, nil
	}
	if err := Serve(context.Background(), strings.NewReader(in), &out,
		Hello{Name: "same", Version: "1", Repeatable: true}, handler); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"protocol":1,"name":"same","version":"1","repeatable":true}`,
		`{"id":1,"documents":[["a"]]}`,
		`{"id":2,"error":"epsilon = 0: must be \u003e 0 and finite"}`,
		`{"id":3,"error":"seed 0 = \"12\": must be 64 hexadecimal digits"}`,
		`{"id":4,"error":"0 seeds for 1 documents"}`,
		`{"id":5,"undefined":"not at 9"}`,
		`{"id":6,"texts":["a  b"],"words":2}`,
	}
	got := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("line %d of %q, want %q", i, got, want)
		}
	}
	err := Serve(context.Background(), strings.NewReader("hello\n"), &bytes.Buffer{}, Hello{Name: "x"}, handler)
	if err == nil || !strings.Contains(err.Error(), "standard input:1: not a line of the protocol") {
		t.Errorf("%v", err)
	}
	long := strings.NewReader(strings.Repeat("x", maxLine+2) + "\n")
	if err := Serve(context.Background(), long, &bytes.Buffer{}, Hello{Name: "x"}, handler); err == nil ||
		!strings.Contains(err.Error(), "longer than 10485760 bytes") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Serve(ctx, strings.NewReader(""), &bytes.Buffer{}, Hello{Name: "x"}, handler); !errors.Is(err,
		context.Canceled) {
		t.Errorf("%v", err)
	}
}
