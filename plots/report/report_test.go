package report

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	_ "mldpbench/experiments/measure" // registers the quantities of attackers
	"mldpbench/internal/records"
	"mldpbench/results"
)

// input is TEST DATA: invented numbers in the shape of a study.
func input(t testing.TB) Input {
	t.Helper()
	run := results.Run{
		Name: "test",
		Command: []string{"/somewhere/mldp", "run", "my study.yaml", "--seed", "7", "--api-key=sesame", "--data",
			"/home/me/texts"},
		Definition: "name: synthetic\ncommand: serve --token abc /home/me/model.bin\n",
		Version:    "test",
		Audit:      []results.AuditRow{{Mechanism: "cmp", Variant: "proved", Epsilon: 1, Promises: true, Lower: 0.5}},
	}
	for rep := range 3 {
		for _, m := range []string{results.BaselineMechanism, "cmp", "vickrey"} {
			for i, e := range []float64{1, 5, 10} {
				r := results.NewRow()
				r.Key = fmt.Sprint(m, e)
				r.Study, r.Dataset, r.Generated, r.TestItems = "synthetic <test> data", "generated-reviews", true, 1000
				r.Embedding, r.Dimension, r.Mechanism, r.Repetition, r.Seed = "generated", 50, m, rep, 7
				right := 600 + 100*i + 7*rep
				if m == results.BaselineMechanism {
					if i > 0 {
						continue
					}
					right = 900 + rep
				} else {
					r.Epsilon, r.Variant, r.GuaranteeMetric, r.GuaranteeEpsilon = results.Float(e), "proved",
						"euclidean", results.Float(e)
				}
				unchanged := 10 + 30*i + rep
				if m == "vickrey" {
					r.Variant, r.GuaranteeMetric, r.GuaranteeEpsilon = "released", "", results.Missing
					r.GuaranteeReason = "test <reason>"
					right -= 50
					if i == 2 {
						unchanged = 97 + rep
					}
				}
				if m != results.BaselineMechanism {
					run.Rows = append(run.Rows, r.Of("e_m_map", results.Number(0.9-0.3*float64(i))),
						r.Of("n_w", results.Share(unchanged, 100)))
				}
				r.Model, r.Setting = "svm", "local"
				if m == results.BaselineMechanism {
					r.Setting = ""
				}
				run.Rows = append(run.Rows, r.Of("accuracy", results.Share(right, 1000)))
			}
		}
	}
	for _, e := range []float64{1, 5} {
		run.Examples = append(run.Examples, results.Example{
			Dataset: "generated-reviews", Embedding: "generated", Dimension: 50, Mechanism: "cmp", Variant: "proved",
			Epsilon: e, Original: "a <b>good</b> film", Privatised: "a poor film",
		})
	}
	p, err := results.Prepare(run)
	if err != nil {
		t.Fatal(err)
	}
	return Input{Prepared: p}
}

func write(t testing.TB, in Input) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSelfContained(t *testing.T) {
	page := write(t, input(t))
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "#") && m[1] != "data:," {
			t.Errorf("the page refers to %q", m[1])
		}
	}
	if regexp.MustCompile(`@import|url\(`).MatchString(page) {
		t.Error("the style refers to a file")
	}
	if write(t, input(t)) != page {
		t.Error("two runs differ")
	}
}

func TestContent(t *testing.T) {
	in := input(t)
	page := write(t, in)
	for _, want := range []string{
		"synthetic &lt;test&gt; data", "Generated data.", "Which of 2 mechanisms keeps most accuracy at equal privacy?",
		"(1,000 test documents), 3 repetitions.", "mldp run &#39;my study.yaml&#39; --seed 7",
		"no guarantee", "Test &lt;reason&gt;.", "<th scope=\"row\">Vickrey, released<span>†</span>",
		"changed nothing", `<g class="series" data-s="CMP">`, "Fewer than 5 repetitions", "Audit of claimed guarantees",
		"N<sub>w</sub>", `id="mechanism-cmp"`, "<th scope=\"row\">CMP</th><td><strong>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, secret := range []string{"/somewhere", "sesame", "/home", "abc", "film", "Against the published"} {
		if strings.Contains(page, secret) {
			t.Errorf("the page publishes %q", secret)
		}
	}
	in.Examples = true
	page = write(t, in)
	for _, want := range []string{"a &lt;b&gt;good&lt;/b&gt; film", "<mark>a</mark> poor <mark>film</mark>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page with examples lacks %q", want)
		}
	}
	if err := Write(&bytes.Buffer{}, Input{}); err == nil {
		t.Error("no error without results")
	}
}

// The table of all cells is not printed: each of its numbers stands in a table that
// is.
func TestPrintHasAllNumbers(t *testing.T) {
	_, rest, _ := strings.Cut(write(t, input(t)), `id="cells"`)
	all, printed, _ := strings.Cut(rest, "</table>")
	number := regexp.MustCompile(`<td[^>]*>(?:<[a-z]+>)*(\d+\.\d+)`)
	there, seen := map[string]bool{}, 0
	for _, m := range number.FindAllStringSubmatch(printed, -1) {
		there[m[1]], there[strings.TrimSuffix(m[1], "0")] = true, true // of one digit more
	}
	for _, m := range number.FindAllStringSubmatch(all, -1) {
		if seen++; !there[m[1]] {
			t.Errorf("%s is in no printed table", m[1])
		}
	}
	if seen < 10 {
		t.Errorf("%d numbers", seen)
	}
}

func TestRedact(t *testing.T) {
	for _, c := range [][2]string{
		{"serve --api-key=s3cret --port 8", "serve --api-key=… --port 8"},
		{"serve --api-key s3cret", "serve --api-key …"},
		{"OPENAI_API_KEY=s3cret tool", "OPENAI_API_KEY=… tool"},
		{"tool sk-abcdefgh1234", "tool …"},
		{`password: "a b"`, "password: …"},
		{"tool --in=/home/me/x.txt --out ~/y", "tool --in=…/x.txt --out …/y"},
		{"files: [/data/a.csv, b.csv]", "files: […/a.csv, b.csv]"},
		{"run runs/mini --seed 7", "run runs/mini --seed 7"},
		{"epsilons: [1, 5] # 1/2", "epsilons: [1, 5] # 1/2"},
		{"https://example.org/x", "https://example.org/x"},
	} {
		if got := redact(c[0]); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}

// TestStructure checks what keyboards and screen readers depend on.
func TestStructure(t *testing.T) {
	page := write(t, input(t))
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("id %q twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?:href="#|aria-labelledby=")([^"]*)"`).FindAllStringSubmatch(page, -1) {
		for _, id := range strings.Fields(m[1]) {
			if !ids[id] {
				t.Errorf("nothing has the id %q", id)
			}
		}
	}
}

// Pages of real studies stay small; only those that replicate are compared with
// published numbers. MLDP_PAGES is a folder to keep them in.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("pages of whole studies take seconds")
	}
	for _, c := range []struct {
		study      string
		most       int
		replicates bool
	}{
		{"mini", 1_500_000, false}, {"extended", 3_000_000, false}, {"attacks", 3_000_000, false},
		{"comparative", 3_000_000, true}, {"replication", 3_000_000, true}, {"auditor", 3_000_000, false},
	} {
		page := write(t, Input{Prepared: records.View(t, c.study)})
		if len(page) > c.most {
			t.Errorf("%s: %d bytes, at most %d", c.study, len(page), c.most)
		}
		if got := strings.Contains(page, `id="published"`); got != c.replicates {
			t.Errorf("%s: compared with published numbers: %v", c.study, got)
		}
		answer, _, _ := strings.Cut(page, "</section>")
		if n := strings.Count(answer, "<tr>") - strings.Count(answer, "<thead"); n > 2*mostRows {
			t.Errorf("%s: %d rows on the first screen", c.study, n)
		}
		t.Log(c.study, len(page), "bytes")
		if dir := os.Getenv("MLDP_PAGES"); dir != "" {
			if err := os.WriteFile(dir+"/"+c.study+".html", []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// ε are in numerical order, whatever the order of the rows.
func TestEpsilonsInOrder(t *testing.T) {
	e := explorer{Rows: []exploreRow{{Epsilon: "10"}, {Epsilon: "2.5"}, {Epsilon: "1"}, {Epsilon: "2"}}}
	e.filter()
	if len(e.Filters) != 1 || strings.Join(e.Filters[0].Values, " ") != "1 2 2.5 10" {
		t.Errorf("%v", e.Filters)
	}
}
