package experiments_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms/external"
	"mldpbench/results"
)

// role is an attacker or a measurement from outside: this test's own binary.
func role(name string) {
	h := external.Hello{Protocol: external.Roles, Role: external.Role(name), Name: name, Version: "1"}
	if name == "measurement" {
		h.Better, h.Title = "up", "share of words kept"
	}
	out := json.NewEncoder(os.Stdout)
	_ = out.Encode(h)
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q struct {
			ID                uint64
			Train             [][2]any // text, label
			Test              []string
			Original, Private []string
		}
		if err := json.Unmarshal(line, &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(9)
		}
		labels, values := make([]int, len(q.Test)), make([]float64, len(q.Original))
		for i, text := range q.Test {
			labels[i] = nearestLabel(q.Train, text)
		}
		for i, text := range q.Original {
			values[i] = keptWords(text, q.Private[i])
		}
		field, answer := "labels", any(labels)
		if name == "measurement" {
			field, answer = "values", values
		}
		_ = out.Encode(map[string]any{"id": q.ID, field: answer})
	}
}

// nearestLabel is the label of the training text with the most words in common.
func nearestLabel(train [][2]any, text string) int {
	best, label := -1.0, 0
	for _, x := range train {
		if kept := keptWords(text, x[0].(string)); kept > best {
			best, label = kept, int(x[1].(float64))
		}
	}
	return label
}

// keptWords is the share of the distinct words of a text that another has.
func keptWords(text, other string) float64 {
	has := map[string]bool{}
	for _, w := range strings.Fields(other) {
		has[w] = true
	}
	words, kept := map[string]bool{}, 0
	for _, w := range strings.Fields(text) {
		if !words[w] && has[w] {
			kept++
		}
		words[w] = true
	}
	return float64(kept) / math.Max(1, float64(len(words)))
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
	s, err := study.Parse("roles.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRolesInAStudy(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "weights")
	put(t, filepath.Dir(file), "weights", "first")
	s := ofRoles(t, "{name: nearest, command: [SELF, client, attacker, FILE]}",
		"{name: kept, command: [SELF, client, measurement]}", "FILE", file)
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := study.Parse("again.yaml", text); err != nil || len(again.Attackers) != 2 ||
		again.Attackers[1].Name != "nearest" || again.Attackers[1].Command[1] != "client" {
		t.Fatalf("printed and read again: %v\n%s", err, text)
	}
	dir := t.TempDir()
	sum := mustRun(t, s, engine.Options{Out: dir, Workers: 2})
	same(t, "one worker", sum.Rows, mustRun(t, s, engine.Options{Workers: 1}).Rows)
	private := named(cells(t, sum), "k-rr")
	found, kept := results.AttackerQuantity("nearest"), results.MeasuredQuantity("kept", "up")
	met := map[string]bool{}
	for _, c := range private {
		for _, quantity := range []string{found, kept} {
			m, ok := c.At(quantity)
			if !ok {
				continue
			}
			met[quantity] = true
			if !(m.Low.Float() <= m.Value.Float() && m.Value.Float() <= m.High.Float() && m.Low.Float() < m.High.Float()) || !m.Ceiling.Known() {
				t.Errorf("%s: %+v", quantity, m)
			}
			switch quantity {
			case found: // the built-in attacker has the same floor
				svm, _ := c.At("attribute-adaptive-svm-accuracy")
				if m.Floor != svm.Floor || m.Whole != 60 || len(strings.Fields(m.Detail)) != 60 {
					t.Errorf("%s: %+v, the built-in one %+v", quantity, m, svm)
				}
			case kept:
				if m.Ceiling.Float() != 1 || m.Value.Float() >= 1 || len(strings.Fields(m.Detail)) != 200 ||
					m.Note != "share of words kept" {
					t.Errorf("%s: %+v", quantity, m)
				}
			}
		}
	}
	if len(met) != 2 {
		t.Fatalf("measured %v", met)
	}
	attackers := results.Where(results.MeasuredColumns(private),
		func(c results.Column) bool { return c.Attacker == "nearest" })
	if len(attackers) != 1 || attackers[0].Name != found {
		t.Errorf("columns of the attacker: %+v", attackers)
	}
	if again := mustRun(t, s, engine.Options{Out: dir}); again.Ran != 0 {
		t.Errorf("%d units run again", again.Ran)
	}
	put(t, filepath.Dir(file), "weights", "second")
	const mechanisms = 3 // of k-rr, the unchanged text is none in a grid
	if again := mustRun(t, s, engine.Options{Out: dir}); again.Ran == 0 || again.Ran > mechanisms {
		t.Errorf("after a change of the attacker's file %d units run", again.Ran)
	}
}

// TestLogisticExample runs the attacker of the examples, with the standard
// library alone and with scikit-learn where some python3 has it: on text that was
// hardly changed it finds the label.
func TestLogisticExample(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("no python3 here: %v", err)
	}
	script, err := filepath.Abs(filepath.Join("..", "examples", "external", "logistic.py"))
	if err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]string{"alone": "python3, " + script + ", --alone", "scikit-learn": script} {
		t.Run(name, func(t *testing.T) {
			if name != "alone" {
				python := ""
				for _, p := range []string{"python3", "/usr/bin/python3"} {
					if exec.Command(p, "-c", "import sklearn").Run() == nil {
						python = p
					}
				}
				if python == "" {
					t.Skip("no scikit-learn here")
				}
				command = python + ", " + command
			}
			s := ofRoles(t, "{name: logistic, command: ["+command+"]}", "", "[6]", "[50]")
			for _, c := range named(cells(t, mustRun(t, s, engine.Options{Workers: 2})), "k-rr") {
				m, _ := c.At(results.AttackerQuantity("logistic"))
				svm, _ := c.At("attribute-adaptive-svm-accuracy")
				t.Logf("logistic %+v, SVM %v", m.Value, svm.Value)
				if !(m.Low.Float() > m.Floor.Float()) || m.Value != m.Ceiling { // at this epsilon no word changes
					t.Errorf("%+v", m)
				}
			}
		})
	}
}

func TestWrongRolesInAStudy(t *testing.T) {
	t.Parallel()
	const head = "schema: 1\nname: x\nseed: 1\ndatasets: [{name: generated-styles}]\n" +
		"embeddings: [{name: generated, dimensions: [20]}]\nmechanisms: [{name: cmp}]\nepsilons: [1]\n"
	for text, want := range map[string]string{
		"attackers: [nosuch]":                                                     `8:13: attacker = "nosuch": must be one of`,
		"attackers: [{name: overlap, command: [x]}]":                              `is that of a built-in attacker`,
		"attackers: [{name: 'a b', command: [x]}]":                                "must consist of letters",
		"attackers: [{name: a, command: [x], nosuch: 1}]":                         "nosuch",
		"attackers: [{name: a, command: [x]}, {name: a, command: [y]}]":           "given twice",
		"attackers: [{name: a, comand: [x]}]":                                     `unknown field "comand"; did you mean "command"?`,
		"metrics: {commands: [{name: a}]}":                                        "must name a program",
		"metrics: {commands: [{name: a, command: [x]}, {name: a, command: [x]}]}": "given twice",
	} {
		_, err := study.Parse("x.yaml", []byte(head+text+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "x.yaml:8:") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
