package main

import (
	"encoding/json"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mldpbench/internal/realdata"
	"mldpbench/results"
)

// usersCache is the user's setting, read before the tests get a cache of their
// own.
var usersCache = os.Getenv("XDG_CACHE_HOME")

// conformance names the tests that a template must pass when it is kept.
var conformance = map[string]string{
	"./mechanisms": "^(TestOrder|TestGuaranteeAgreesWithVariant|TestDistributionsSumToOneAndKeepTheirBound|" +
		"TestSamplerMatchesDistribution|TestLogBoundsContainTheDistribution|TestLimitsOfEpsilon|" +
		"TestSeedsReproduceAndBatchesDoNotMatter|TestEpsilonPerWord|TestOddSpaces|TestBadSettingsAreRefused)$/coin",
	"./models/attack":     "^TestCeilingAndFloor$/unchanged",
	"./datasets":          "^(TestLoad|TestDescribe|TestSample)",
	"./models":            "^TestParameters$",
	"./experiments":       "^TestMeasurementsConform$",
	"./experiments/study": "^TestStudyKeysPage$",
	"./results":           ".",
}

// TestRecipes follows CONTRIBUTING.md: it builds the program with the templates
// kept, runs it, and tests them.
func TestRecipes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a copy of the program")
	}
	t.Parallel()
	r := keptRecipes(t)
	overlay := r.overlay(t, "kept", nil)
	// Laid over the repository, packages that the templates leave alone are those of the tests.
	r.do(t, "go", "build", "-C", r.root, "-overlay", overlay, "-buildvcs=false", "-ldflags=-s -w", "-o", r.mldp,
		"./cmd/mldp")
	t.Run("run", r.testRun)
	t.Run("kept", func(t *testing.T) {
		packages := slices.Sorted(maps.Keys(conformance))
		r.do(t, "go", append([]string{"vet", "-C", r.root, "-overlay", overlay, "./experiments/measure"}, packages...)...)
		for _, p := range packages {
			out := r.do(t, "go", "test", "-C", r.root, "-overlay", overlay, "-short", "-run", conformance[p], p)
			if strings.Contains(out, "no tests to run") {
				t.Errorf("%s: no test is %s", p, conformance[p])
			}
		}
	})
}

// TestLongRecipes plants mistakes in the templates.
func TestLongRecipes(t *testing.T) {
	realdata.Long(t)
	t.Parallel()
	r := keptRecipes(t)
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) { r.testMistake(t, m) })
	}
}

func keptRecipes(t *testing.T) *recipes {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	r := &recipes{root: root, dir: t.TempDir(), page: string(page), files: templates(t, root, string(page))}
	r.mldp = filepath.Join(r.dir, "mldp")
	writeFile(t, filepath.Join(r.dir, "recipes.yaml"), r.files["recipes.yaml"])
	return r
}

// mistake is planted in a template, or in a file that the page says to copy; the
// test that the page names must find it.
type mistake struct {
	name, file string
	copied     string // "" for a template
	changes    *strings.Replacer
	folder     string // of the test
	test, only string
}

var mistakes = []mistake{
	{"draws of triple ε", "mechanisms/coin.go", "",
		strings.NewReplacer("float64(n)*math.Exp(-epsilon)", "float64(n)*math.Exp(-3*epsilon)"),
		"./mechanisms", "TestSamplerMatchesDistribution", "coin"},
	{"noise three times too small", "mechanisms/coin.go", "",
		strings.NewReplacer("math.Exp(-epsilon)", "math.Exp(-3*epsilon)", "own - epsilon", "own - 3*epsilon"),
		"./mechanisms", "TestDistributionsSumToOneAndKeepTheirBound", "coin"},
	{"noise of triple ε", "mechanisms/cmp3.go", "mechanisms/cmp.go",
		strings.NewReplacer(`"cmp"`, `"cmp3"`, "newCMP", "newCMP3", "Proved, AsRun", "Proved",
			"m := newProjector(env, s, 1)", "m := newProjector(env, s, 1)\n\tm.settings.Epsilon *= 3"),
		"./mechanisms/audit", "TestVerdicts", ""},
	{"words that cannot come from others", "mechanisms/coin.go", "", // the 50 of a list, with a promise for all words
		strings.NewReplacer("n := env.Space.Len()", "all := env.Space.Len()\n\tn := min(50, all)",
			"WordID(rng.IntN(n))", "WordID((int(word)+rng.IntN(n))%all)",
			"dst[y] = own - epsilon", "dst[y] = math.Inf(-1)\n\t\t\t\tif (y-int(word)+all)%all < n {\n"+
				"\t\t\t\t\tdst[y] = own - epsilon\n\t\t\t\t}"),
		"./mechanisms/audit", "TestVerdicts", ""},
	{"NaN", "experiments/measure/distinct.go", "",
		strings.NewReplacer("results.Share(len(seen), total)", "results.Number(float64(results.Missing))"),
		"./experiments", "TestMeasurementsConform", ""},
	{"misses words", "models/attack/unchanged.go", "", strings.NewReplacer("hits[i]++", "hits[i] = 1"),
		"./models/attack", "TestCeilingAndFloor", "unchanged"},
}

// recipes is a copy of the program with the templates.
type recipes struct {
	root, dir, mldp string
	page            string
	files           map[string]string // of the page
}

// testRun runs the study of all templates, and every command that reads rows.
func (r *recipes) testRun(t *testing.T) {
	r.do(t, r.mldp, "run", "recipes.yaml", "--out", "out")
	r.do(t, r.mldp, "audit", "--mechanism", "coin", "--epsilon", "2", "--embedding", "generated", "--dimension", "50",
		"--vocabulary", "30")
	// Rows of a program without the metric are compared with rows that have it.
	rows, err := results.Read(filepath.Join(r.dir, "out", "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	before := results.Where(rows, func(r results.Row) bool { return r.Quantity != "distinct" })
	if len(before) == 0 || len(before) == len(rows) {
		t.Fatalf("%d rows, %d without the metric", len(rows), len(before))
	}
	if err := results.Write(filepath.Join(r.dir, "before.csv"), before); err != nil {
		t.Fatal(err)
	}
	r.do(t, r.mldp, "check", "--baseline", "before.csv", "out/results.csv")
	r.do(t, r.mldp, "tables", "out", "-o", "tables")
	r.do(t, r.mldp, "report", "out", "-o", "report.html")
	r.do(t, r.mldp, "figures", "out", "-o", "figures")
	for files, wants := range map[string][]string{
		"tables/*": {"coin", "different words", "words unchanged"}, "report.html": {"coin", "different words", "majority"},
		"out/results.csv": {"coin", "distinct", "unchanged-words", "opinions"}, "figures/*.svg": {"different words"},
	} {
		var text strings.Builder
		found, _ := filepath.Glob(filepath.Join(r.dir, files))
		for _, f := range found {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(data)
		}
		for _, want := range wants {
			if !strings.Contains(strings.ToLower(text.String()), want) {
				t.Errorf("%s: no %s", files, want)
			}
		}
	}
}

func (r *recipes) testMistake(t *testing.T, m mistake) {
	text := r.files[m.file]
	if m.copied != "" {
		data, err := os.ReadFile(filepath.Join(r.root, m.copied))
		if err != nil {
			t.Fatal(err)
		}
		text = string(data)
	}
	planted := m.changes.Replace(text)
	if planted == text || !strings.Contains(r.page, m.test) {
		t.Fatalf("%s is as before, or the page does not name %s", m.file, m.test)
	}
	overlay := r.overlay(t, m.name, map[string]string{m.file: planted})
	run := "^" + m.test + "$"
	if m.only != "" {
		run += "/" + m.only
	}
	out, err := r.command(t, "go", "test", "-C", r.root, "-overlay", overlay, "-run", run, m.folder)
	if err == nil || !strings.Contains(out, "--- FAIL: "+m.test) {
		t.Errorf("%s does not find it: %v\n%s", m.test, err, out)
	}
}

func (r *recipes) do(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := r.command(t, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return out
}

func (r *recipes) command(t *testing.T, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = r.dir
	cache := usersCache // where compiled packages are; with an empty cache all of Go is compiled
	if name == r.mldp { // a different program from the one under test learns its own vectors
		cache = filepath.Join(r.dir, ".cache")
	}
	cmd.Env = append(cmd.Environ(), "XDG_CACHE_HOME="+cache)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// overlay writes the templates, and others in their place or besides, and returns the file that
// lays them over the repository for the go command.
func (r *recipes) overlay(t *testing.T, name string, changed map[string]string) string {
	t.Helper()
	folder, replace := filepath.Join(r.dir, name), map[string]string{}
	files := maps.Clone(r.files)
	maps.Copy(files, changed)
	for file, text := range files {
		if filepath.Ext(file) != ".go" {
			continue
		}
		path := filepath.Join(folder, file)
		replace[filepath.Join(r.root, file)] = path
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text)
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "overlay.json")
	writeFile(t, path, string(data))
	return path
}

// templates are the blocks of the page that name a file: new ones, formatted.
func templates(t *testing.T, root, page string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, block := range regexp.MustCompile("(?s)\n```\\w+ (\\S+)\n(.*?\n)```\n").FindAllStringSubmatch(page, -1) {
		name, text := block[1], block[2]
		files[name] = text
		if _, err := os.Stat(filepath.Join(root, name)); err == nil {
			t.Fatalf("%s is there already", name)
		}
		if filepath.Ext(name) != ".go" {
			continue
		}
		if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
			t.Errorf("%s is not formatted, %v", name, err)
		}
	}
	if len(files) != 6 {
		t.Fatalf("%d blocks name a file, want 5 templates and a study", len(files))
	}
	return files
}
