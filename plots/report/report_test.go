package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"mldpbench/results/quantity"

	_ "mldpbench/experiments/measure" // registers the quantities of attackers
	"mldpbench/internal/records"
	"mldpbench/results"
	"mldpbench/results/analysis"
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
		Audit:      []results.AuditRow{{Mechanism: "cmp", Variant: "proved", Epsilon: results.Float(1), Promises: true, Lower: results.Float(0.5)}},
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
					run.Rows = append(run.Rows, r.Of("em", results.Number(0.9-0.3*float64(i))),
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
	a, err := analysis.New(quantity.Levels{}, run)
	if err != nil {
		t.Fatal(err)
	}
	return Input{Analysis: a}
}

func write(t testing.TB, in Input) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The page needs no other file, and has what keyboards and screen readers depend on.
func TestSelfContained(t *testing.T) {
	page := write(t, input(t))
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("id %q twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(src|href|aria-labelledby)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		for _, to := range strings.Fields(m[2]) {
			if m[1] != "aria-labelledby" && !strings.HasPrefix(to, "#") && to != "data:," {
				t.Errorf("the page refers to %q", to)
			} else if id := strings.TrimPrefix(to, "#"); to != "data:," && !ids[id] {
				t.Errorf("nothing has the id %q", id)
			}
		}
	}
	if regexp.MustCompile(`@import|url\(`).MatchString(page) || write(t, input(t)) != page {
		t.Error("the style refers to a file, or two runs differ")
	}
}

// The page begins with the answer, the table and the pictures; what is closed comes
// after. It publishes no path, no secret and no document.
func TestContent(t *testing.T) {
	in := input(t)
	page := write(t, in)
	at := 0
	for _, want := range []string{"synthetic &lt;test&gt; data", "Generated data.", `class="headline"`, `<table>`,
		"not privatised", "(1,000 test documents), 3 repetitions.", `<g class="series" data-s="CMP">`,
		`button type="button" data-s="CMP"`, "What was measured", "warnings", "Fewer than 5 repetitions", "How to repeat it",
		"The command line is not shown, as it holds api-key as it stands.", "The study is not shown, as it holds token",
		"<details>", "Guarantee of each mechanism", "Vickrey, released†", "test &lt;reason&gt;"} {
		k := strings.Index(page[at:], want)
		if k < 0 {
			t.Errorf("the page lacks %q, or has it too early", want)
			continue
		}
		at += k
	}
	for _, secret := range []string{"/somewhere", "sesame", "/home", "abc", "film", "<details open"} {
		if strings.Contains(page, secret) {
			t.Errorf("the page publishes %q", secret)
		}
	}
	if err := Write(&bytes.Buffer{}, Input{}); err == nil {
		t.Error("no error without results")
	}
}

// What holds a secret is not written at all; what only looks like one is, so that a
// study of the page runs.
func TestSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"serve --api-key=s3cret": "api-key", "serve --api-key s3cret": "api-key", "OPENAI_API_KEY=s3cret tool": "OPENAI_API_KEY",
		"tool sk-abcdefgh1234": "a key", `password: "a b"`: "password", "{command: [x, --token, abc]}": "token",
		"run runs/mini --seed 7": "", "max_tokens: 40": "", "--author ann": "", "authors: [a]": "", "tokens_unknown: 3": "",
		"api_key: ${KEY}": "", "serve --token ${TOKEN}": "", "secretary: x": "",
	} {
		if got := secretIn(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"tool --in=/home/me/x.txt --out ~/y": "tool --in=…/x.txt --out …/y", "files: [/data/a.csv, b.csv]": "files: […/a.csv, b.csv]",
		"epsilons: [1, 5] # 1/2": "epsilons: [1, 5] # 1/2", "https://example.org/x": "https://example.org/x",
	} {
		if got := portable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	r := runOf(results.Run{Command: []string{"mldp", "run", "my study.yaml"}, Definition: "max_tokens: 40\n"})
	if r.Shell != "mldp run 'my study.yaml'" || r.Definition != "max_tokens: 40\n" || r.Withheld != "" {
		t.Errorf("%+v", r)
	}
}

// Pages of real studies stay small; only those that replicate are compared with
// published numbers.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("pages of whole studies take seconds")
	}
	for study, replicates := range map[string]bool{"mini": false, "extended": false, "attacks": false, "comparative": true,
		"replication": true, "auditor": false} {
		page := write(t, Input{Analysis: analysis.Of(records.View(t, study), quantity.Levels{})})
		if replicated := strings.Contains(page, "Printed by"); len(page) > 2_000_000 || replicated != replicates {
			t.Errorf("%s: %d bytes; compared with published numbers: %v", study, len(page), replicated)
		}
	}
}

// A page of next to nothing is still a page: only a baseline, only undefined
// cells, names with control characters, an error without an accuracy.
func TestOddResults(t *testing.T) {
	base := results.NewRow()
	base.Study, base.Dataset, base.Mechanism, base.Model = "odd\x1b[31m", "a\x00b <x>", "none", "svm"
	undefined := results.NewRow()
	undefined.Dataset, undefined.Mechanism, undefined.Variant, undefined.Epsilon = "a", "gumbel", "proved", results.Float(1)
	undefined.Status, undefined.Reason = results.StatusUndefined, "because"
	private := results.NewRow()
	private.Dataset, private.Mechanism, private.Epsilon, private.GuaranteeReason = "a", "outside\x07", results.Float(1e300), "told"
	for name, rows := range map[string][]results.Row{
		"baseline": {base.Of("accuracy", results.Number(80))}, "undefined": {undefined},
		"outside": {private.Of("n_w", results.Number(3))},
		"error":   {private.Of("em", results.Number(0.5)), base.Of("accuracy", results.Number(80))},
	} {
		a, err := analysis.New(quantity.Levels{}, results.Run{Name: name, Rows: rows})
		if err != nil {
			t.Fatal(err)
		}
		if page := write(t, Input{Analysis: a}); !strings.HasSuffix(page, "</html>\n") {
			t.Errorf("%s: no whole page", name)
		}
	}
}
