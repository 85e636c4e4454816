package experiments_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms/external"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// role is an attacker or a measurement from outside: this test's own binary.
func role(name string) {
	h := external.Hello{Protocol: external.Roles, Role: external.Role(name), Name: name, Version: "1"}
	if name == "measurement" {
		h.Better, h.Title = "up", "share of words kept"
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	_ = out.Encode(h)
	for q := (external.Request{}); in.Decode(&q) == nil; q = (external.Request{}) {
		a := external.Answer{ID: &q.ID}
		for _, text := range q.Test {
			label := len(text) % 2
			a.Labels = append(a.Labels, &label)
		}
		for i, text := range q.Original {
			value := 1.0
			if text != q.Private[i] {
				value = 1 / float64(2+i%3)
			}
			a.Values = append(a.Values, &value)
		}
		_ = out.Encode(a)
	}
}

// ofRoles is a study with attackers and measurements that are commands.
func ofRoles(t *testing.T, attackers, measurements string, edits ...string) *study.Study {
	t.Helper()
	text := strings.NewReplacer(append([]string{"SELF", selfName(t)}, edits...)...).Replace(`schema: 1
name: roles
seed: 3
datasets: [{name: generated-styles, train: 120, validation: 20, test: 60}]
embeddings: [{name: generated, dimensions: [20]}]
epsilons: [6]
mechanisms: [{name: k-rr}]
attackers: [attribute-adaptive-svm, ` + attackers + `]
metrics: {low: 20, commands: [` + measurements + `]}
`)
	s := parsed(t, text)
	return s
}

func TestRolesInAStudy(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	put(t, dir, "weights", "first")
	s := ofRoles(t, "{name: odd, command: [SELF, client, attacker, DIR/weights]}",
		"{name: same, command: [SELF, client, measurement]}", "DIR", dir)
	sum := mustRun(t, s, engine.Options{Out: out, Workers: 2})
	same(t, "one worker", sum.Rows, mustRun(t, s, engine.Options{Workers: 1}).Rows)
	private := results.Texts(named(cells(t, sum), "k-rr"))
	if len(private) != 1 {
		t.Fatalf("%d texts", len(private))
	}
	c := private[0]
	found, kept := at(c, quantity.OfAttacker("odd")), at(c, quantity.OfMeasurement("same", "up"))
	for _, m := range []results.Measured{found, kept} {
		if !(m.Low.Float() < m.Value.Float() && m.Value.Float() < m.High.Float()) || !m.Ceiling.Known() {
			t.Errorf("%+v", m)
		}
	}
	// The built-in attacker has the same floor.
	if svm := at(c, "attribute-adaptive-svm-accuracy"); found.Floor != svm.Floor || found.Whole != 60 ||
		len(strings.Fields(found.Detail)) != 60 {
		t.Errorf("%+v, the built-in one %+v", found, svm)
	}
	if kept.Ceiling.Float() != 1 || kept.Value.Float() >= 1 || len(strings.Fields(kept.Detail)) != 200 ||
		kept.Note != "share of words kept" {
		t.Errorf("%+v", kept)
	}
	if again := mustRun(t, s, engine.Options{Out: out}); again.Ran != 0 {
		t.Errorf("%d units run again", again.Ran)
	}
	put(t, dir, "weights", "second")
	const mechanisms = 3 // of k-rr, the unchanged text is none in a grid
	if again := mustRun(t, s, engine.Options{Out: out}); again.Ran == 0 || again.Ran > mechanisms {
		t.Errorf("after a change of the attacker's file %d units run", again.Ran)
	}
}

// TestLogisticExample runs the attacker of the examples with the standard library
// alone: on text that was hardly changed it finds the label.
func TestLogisticExample(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("no python3 here: %v", err)
	}
	script, err := filepath.Abs(filepath.Join("..", "examples", "external", "logistic.py"))
	if err != nil {
		t.Fatal(err)
	}
	s := ofRoles(t, "{name: logistic, command: [python3, "+script+", --alone]}", "", "[6]", "[50]")
	for _, c := range results.Texts(named(cells(t, mustRun(t, s, engine.Options{Workers: 2})), "k-rr")) {
		m := at(c, quantity.OfAttacker("logistic"))
		if !(m.Low.Float() > m.Floor.Float()) || m.Value != m.Ceiling { // at this epsilon no word changes
			t.Errorf("%+v", m)
		}
	}
}

func TestWrongRolesInAStudy(t *testing.T) {
	t.Parallel()
	const head = "schema: 1\nname: x\nseed: 1\ndatasets: [{name: generated-styles}]\n" +
		"embeddings: [{name: generated, dimensions: [20]}]\nmechanisms: [{name: cmp}]\nepsilons: [1]\n"
	for text, want := range map[string]string{
		"attackers: [nosuch]":                                                     `x.yaml:8:13: attacker = "nosuch": must be one of`,
		"attackers: [{name: overlap, command: [x]}]":                              `is that of a built-in attacker`,
		"attackers: [{name: 'a b', command: [x]}]":                                "must consist of letters",
		"attackers: [{name: a, command: [x], nosuch: 1}]":                         "nosuch",
		"attackers: [{name: a, command: [x]}, {name: a, command: [y]}]":           "given twice",
		"attackers: [{name: a, comand: [x]}]":                                     `unknown field "comand"; did you mean "command"?`,
		"metrics: {commands: [{name: a}]}":                                        "must name a program",
		"metrics: {commands: [{name: a, command: [x]}, {name: a, command: [x]}]}": "twice",
	} {
		refused(t, head+text+"\n", want)
	}
}
