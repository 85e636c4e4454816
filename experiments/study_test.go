package experiments_test

import (
	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"

	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// edit returns the tiny study with one piece of text replaced.
func edit(t *testing.T, old, new string) string { return edited(t, "tiny", old, new) }

func TestStudyErrorsNameThePlace(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"seed: 7", "sed: 7", `x.yaml:4:1: unknown field "sed"`},
		{"train: 60", "train: -1", "x.yaml:7:12: train = -1: must be in [0, 100000000]"},
		{"train: 60", "train: 010", "x.yaml:7:12: train = 010: must be an integer in decimal digits"},
		{"seed: 7", "seed: 7\nprotocol: grid", "x.yaml:5:1: protocol is gone; now: every study is of one kind"},
		{"seed: 7", "seed: 7\npublic: {name: agnews}", "public: must be one word or text"},
		{"dimensions: [50]", "dimensions: [50]\n  - name: generated\n    dimensions: [20, 50]",
			`embedding "generated" is given twice`},
		{"schema: 1", "schema: 99", "x.yaml:2:9: schema = 99: this version of mldp reads schema 1"},
		{"name: tiny", "name: ../tiny", `x.yaml:3:7: name = "../tiny": must consist of`},
		{"seed: 7", "seed: 7\nseed: 8", "x.yaml:5:1: "},
		{"name: cmp", "name: cpm", `x.yaml:15:11: mechanism = "cpm": must be one of`},
		{"variant: released", "variant: prooved", `tem: variant = "prooved": must be one of`},
		{"variant: released", "variants: [released]", "variants is gone; now: an entry for each variant"},
		{"runs: 20}", "runs: 20, python: 5}", "python is gone; now: listed, the words themselves"},
		{"policy: drop", "policy: drop\noptions: {rounds: 5}", `attackers: unknown parameter "rounds"`},
		{"policy: drop", "policy: drop\nscenes: [{section: x}]",
			"section is gone; now: no key: a part of `scenes` has a name"},
		{"{t: [0, 0.5]}", "{t: 7}", "x.yaml:16:9: vickrey: t = 7: must be in [0, 1]"},
		{"{t: [0, 0.5]}", "{t: []}", "vickrey: parameter t: the list is empty"},
		{"epsilons: [1, 10]", "epsilons: []", "no epsilons, neither here nor in the study"},
		{"{words: 5, runs: 20}", "{words: 5}", "words and runs must both be given"},
		{"dimensions: [50]", "dimensions: [50]\n    datasets: [imdb]", `data set "imdb" is not in the study`},
		{"- name: generated-words", "- name: generated-reviews", `data set "generated-reviews" is given twice`},
		{"- name: generated-words", "- name: own\n    file: own.csv", `data set "own": a file needs its text columns`},
		{"# A study", "\tA study", "x.yaml:2:7: "},
		{"repetitions: 2", "repetitions: !!int '3'", "tags are not read"},
		{"repetitions: 2", "repetitions: &r 3", "anchors and aliases are not read"},
		{"repetitions: 2", "repetitions: [2]", "repetitions: must be a number"},
		{"epsilons: [1, 10]", "epsilons: 5", "x.yaml:21:11: epsilons: must be a list"},
		{"epsilons: [1, 10]", "epsilons: [1e400]", "x.yaml:21:12: epsilon = +Inf: must be > 0 and finite"},
		{"epsilons: [1, 10]", `epsilons: ["5"]`, "epsilon = 5: must be a number in decimal digits, without quotes"},
		{"name: tiny", "name: [tiny]", "name: must be one word or text"},
		{"name: generated-words", `name: "generated\u001b"`, `x.yaml:10:11: data set = "generated\x1b": must have printable`},
		{"- name: generated\n", "- name: \"gen\\u0007\"\n", `embedding = "gen\a": must have printable`},
		{"name: cmp", "name: cmp\n    label: \"C\\u0000\"", `label = "C\x00": must have printable`},
		{"- name: cmp", "- cpm", `x.yaml:15:5: mechanism = "cpm": must be one of`},
	} {
		refused(t, edit(t, c.old, c.new), c.want)
	}
}

// A word stands for an entry of a list, and is the entry of that name.
func TestWordsStandForEntries(t *testing.T) {
	const head = "schema: 1\nname: words\nseed: 1\nepsilons: [1]\n"
	words := parsed(t, head+"datasets: [agnews, {name: imdb, train: 20}]\nembeddings: [glove.6B.50d]\n"+
		"mechanisms: [cmp, 'vickrey:released', {name: kth}]\nmodels: [svm, {name: logistic, datasets: [imdb]}]\n")
	long := parsed(t, head+"datasets: [{name: agnews}, {name: imdb, train: 20}]\n"+
		"embeddings: [{name: glove.6B, dimensions: [50]}]\nmechanisms: [{name: cmp}, {name: vickrey, variant: released}, "+
		"{name: kth}]\nmodels: [{name: svm}, {name: logistic, datasets: [imdb]}]\n")
	a, wrong := words.YAML()
	b, err := long.YAML()
	if err != nil || wrong != nil || string(a) != string(b) {
		t.Errorf("%s\n%s", a, b)
	}
	set, err := words.Override(study.Overrides{Set: []string{"models=[svm]", "models[svm].datasets=[agnews]"}})
	if err != nil || len(set.Models) != 1 || !slices.Equal(set.Models[0].Datasets, []string{"agnews"}) {
		t.Errorf("%+v, %v", set, err)
	}
	for text, want := range map[string]string{"datasets: [agnwes]": `did you mean "agnews"`, "embeddings: [glove.6B]": "as in glove.6B.100d",
		"mechanisms: ['cmp:prooved']": `variant = "prooved"`, "models: [svn]": `did you mean "svm"`, "datasets: [[agnews]]": "must be keys"} {
		key, _, _ := strings.Cut(text, ":")
		whole := head
		for _, line := range []string{"datasets: [agnews]", "embeddings: [glove.6B.50d]", "mechanisms: [cmp]", "models: [svm]"} {
			if strings.HasPrefix(line, key) {
				line = text
			}
			whole += line + "\n"
		}
		refused(t, whole, want)
	}
}

// Tasks that differ in data sets alone are one study, and a lite one is small.
func TestTasksAreJoined(t *testing.T) {
	if _, err := experiments.Open("agnews@1/lite,imdb@1", ""); err == nil {
		t.Error("a small task beside a whole one has other attackers")
	}
	s, err := experiments.Open("agnews@1/lite,imdb@1/lite", "")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := experiments.Open("agnews@1", "")
	b, _ := experiments.Open("imdb@1", "")
	want := strings.Replace(a.Task+","+b.Task, ":", "/lite:", 2)
	if s.Name != "agnews@1-lite-imdb@1-lite" || s.Task != want || len(s.Datasets) != 2 || s.Datasets[1].Test != 400 ||
		s.Datasets[1].MaxTokens != 40 || len(s.Attackers) > 0 {
		t.Errorf("%+v, want %s", s, want)
	}
	for _, name := range experiments.Builtin.Names() {
		if strings.Contains(name, "@") {
			if s, err := experiments.Open(name+"/lite", ""); err != nil || len(units(t, s)) == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for refs, want := range map[string]string{"agnews@1,trec@1/lite": "differ in more than", "agnews@1,product-reviews@1": "cannot be run as one",
		"mini/lite": "only tasks", "agnews@1,": "must be a .yaml file", "agnews@1,agnews@1": "given twice"} {
		if _, err := experiments.Open(refs, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", refs, err)
		}
	}
}

// Every study of the program divides into units; printed and read again it is the
// same: the manifest can be rerun.
func TestBuiltinStudiesAreSound(t *testing.T) {
	t.Parallel()
	for _, name := range experiments.Builtin.Names() {
		s, err := experiments.Builtin.Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Name != name || s.Title == "" {
			t.Errorf("%s.yaml: name %q, title %q", name, s.Name, s.Title)
		}
		roundTrip(t, s)
	}
}

func roundTrip(t *testing.T, s *study.Study) {
	t.Helper()
	first, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again := parsed(t, string(first))
	second, err := again.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if string(first) != string(second) {
		t.Fatalf("first:\n%s\nsecond:\n%s", first, second)
	}
	a, b := units(t, s), units(t, again)
	if len(a) != len(b) {
		t.Fatalf("%d units, then %d", len(a), len(b))
	}
	for i := range a {
		if a[i].ID != b[i].ID {
			t.Fatalf("unit %d: another ID", i)
		}
	}
}

func units(t testing.TB, s *study.Study) []engine.Unit {
	t.Helper()
	p, err := planned(s, lab.New(""))
	if err != nil {
		t.Fatal(err)
	}
	return p.Units
}

func TestOverride(t *testing.T) {
	comparative, err := experiments.Builtin.Open("comparative")
	if err != nil {
		t.Fatal(err)
	}
	s, err := comparative.Override(study.Overrides{Repetitions: 1, Set: []string{
		"datasets[imdb].train=700", "datasets[1].max_tokens=9", "models=[svm, {name: logistic}]", "title=one two",
		"embeddings=[{file: x/glove.6B.100d.subset.txt.gz}]", "metrics.cs.documents=3", "mechanisms[*].label=same"}})
	if err != nil {
		t.Fatal(err)
	}
	d, m, e := s.Datasets, s.Models, s.Embeddings
	if d[0].Train != 700 || d[0].MaxTokens != 100 || d[1].MaxTokens != 9 || len(m) != 2 || m[0].Name != "svm" ||
		len(m[0].Datasets) == 0 || m[1].Name != "logistic" || len(e) != 1 || e[0].Name != "glove.6B" ||
		!slices.Equal(e[0].Dimensions, []int{100}) || s.Repetitions != 1 || s.BaselineRepetitions != 2 ||
		s.Title != "one two" || s.Mechanisms[0].Label != "same" {
		t.Errorf("%+v", s)
	}
	if comparative.Datasets[0].Train != 8000 || comparative.Mechanisms[0].Label == "same" {
		t.Error("the study itself was changed")
	}
	for _, words := range []string{"mechanisms=[cmp, 'tem:released']", "embeddings=[glove.6B.50d]"} {
		if s, err = comparative.Override(study.Overrides{Set: []string{words}}); err != nil {
			t.Errorf("%s: %v", words, err)
		}
	}
	if d := s.Embeddings[0].Dimensions; !slices.Equal(d, []int{50}) {
		t.Errorf("glove.6B.50d has dimensions %v", d)
	}
	one, err := comparative.Override(study.Overrides{Datasets: []string{"imdb"}})
	if err != nil || len(one.Models) != 1 || one.Models[0].Name != "lstm" {
		t.Errorf("models for imdb: %+v, %v", one.Models, err)
	}
	for set, want := range map[string]string{
		"datasets[0].trian=5": `unknown field "trian"; did you mean "train"?`, "datasets[9].train=5": "none of them [9]",
		"datasets.train=5": "datasets has no keys", "repetitions=x": "repetitions = x: must be an integer",
		"repetitions": "must be path=value", "seed[0]=1": "seed is no list", "sed=1": `did you mean "seed"?`,
		"a b=1": "must be keys", "repetitions=0": "must be in [1, 10000]", "policy=[keep]": "must be one word",
		"epsilons=[": "is not YAML",
	} {
		_, err := comparative.Override(study.Overrides{Set: []string{set}})
		if err == nil || !strings.HasPrefix(err.Error(), "--set "+set+": ") || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", set, err, want)
		}
	}
	for _, bad := range []study.Overrides{
		{Epsilons: []float64{0}}, {Mechanisms: []string{"nope"}}, {Datasets: []string{"nope"}}, {Repetitions: -1},
		{Set: []string{"settings=[nope]"}}, {Set: []string{"embeddings[0].dimensions=[-1]"}},
	} {
		if s, err := comparative.Override(bad); err == nil {
			if _, err = planned(s, lab.New("")); err == nil {
				t.Errorf("%+v: no error", bad)
			}
		}
	}
}

// Paths of a study are those of its folder, not of the working directory; what is not
// there may lie in the data folder.
func TestPathsAreBesideTheStudy(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "sub/reviews.csv", "body,stars\ngood,1\nbad,0\n")
	put(t, dir, "sub/v.2d.txt", "good 1 2\nbad 2 1\n")
	put(t, dir, "sub/client.py", "")
	put(t, dir, "data/away.2d.txt", "good 1 2\nbad 2 1\n")
	put(t, dir, "sub/s.yaml", `schema: 1
name: s
seed: 1
datasets: [{name: mine, file: reviews.csv, text: body, label: stars}]
embeddings: [{file: v.2d.txt}, {file: away.2d.txt}]
mechanisms:
  - {name: x, command: [python3, client.py, other.py]}
  - {name: y, text: "y-{epsilon}.csv"}
  - {name: z, text: /somewhere/z.csv, epsilons: [1]}
epsilons: [1]
models: [{name: svm, parameters: {features: tfidf}}]
`)
	t.Setenv("MLDP_DATA", filepath.Join(dir, "data"))
	s, err := experiments.Builtin.Open(filepath.Join(dir, "sub", "s.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, "sub", name) }
	got := []string{s.Datasets[0].File, s.Embeddings[0].File, s.Embeddings[1].File, s.Mechanisms[1].Text,
		s.Mechanisms[2].Text}
	want := []string{in("reviews.csv"), in("v.2d.txt"), "away.2d.txt", in("y-{epsilon}.csv"), "/somewhere/z.csv"}
	got, want = append(got, s.Mechanisms[0].Command...), append(want, "python3", in("client.py"), "other.py")
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	t.Chdir(filepath.Join(dir, "sub"))
	if s, err = experiments.Builtin.Open("s.yaml"); err != nil || s.Datasets[0].File != "reviews.csv" {
		t.Errorf("from its own folder: %+v, %v", s, err)
	}
}

// A study that is written to another folder names the same files when it is read from
// there: those beside the first one, those of the data folder, programs and arguments.
func TestPathsOfAMovedStudy(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"sub/reviews.csv", "sub/client.py", "sub/krr", "sub/attack.py", "sub/measure.py",
		"sub/tool"} {
		put(t, dir, name, "body,stars\ngood,1\nbad,0\n")
	}
	for _, name := range []string{"sub/v.2d.txt", "data/away.2d.txt"} {
		put(t, dir, name, "good 1 2\nbad 2 1\n")
	}
	put(t, dir, "sub/s.yaml", `schema: 1
name: s
seed: 1
datasets: [{name: mine, file: reviews.csv, text: body, label: stars, private: stars}]
embeddings: [{file: v.2d.txt}, {file: away.2d.txt}]
mechanisms:
  - {name: x, command: [./krr, client.py, other.py]}
  - {name: y, text: "y-{epsilon}.csv"}
  - {name: w, command: [tool, x]}
attackers: [{name: a, command: [python3, attack.py]}]
metrics: {commands: [{name: m, command: [python3, measure.py]}]}
epsilons: [1]
`)
	t.Setenv("MLDP_DATA", filepath.Join(dir, "data"))
	named := func(s *study.Study) (all []string) {
		for _, m := range s.Mechanisms {
			all = append(append(all, m.Text), m.Command...)
		}
		all = append(all, s.Attackers[0].Command...)
		all = append(all, (*s.Metrics["commands"].(*[]study.CommandSpec))[0].Command...)
		return append(all, s.Datasets[0].File, s.Embeddings[0].File, s.Embeddings[1].File)
	}
	absolute := func(all []string) []string {
		for i, name := range all {
			if _, err := os.Stat(name); err == nil || strings.HasPrefix(name, "y-") || strings.Contains(name, "/y-") {
				all[i], _ = filepath.Abs(name)
			}
		}
		return all
	}
	for _, c := range []struct{ from, to string }{{"sub", "runs/s"}, {"sub", "."}, {".", "sub/o"}, {"data", "../x/y"}} {
		t.Chdir(filepath.Join(dir, c.from))
		path, err := filepath.Rel(filepath.Join(dir, c.from), filepath.Join(dir, "sub", "s.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := experiments.Builtin.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		moved, err := s.InFolder(c.to, "")
		if err != nil {
			t.Fatal(err)
		}
		text, err := moved.YAML()
		if err != nil {
			t.Fatal(err)
		}
		put(t, ".", filepath.Join(c.to, "moved.yaml"), string(text))
		again, err := experiments.Builtin.Open(filepath.Join(c.to, "moved.yaml"))
		if err != nil {
			t.Fatalf("from %s to %s: %v", c.from, c.to, err)
		}
		if got, want := absolute(named(again)), absolute(named(s)); !slices.Equal(got, want) {
			t.Errorf("from %s to %s: the moved study names\n%q, want\n%q", c.from, c.to, got, want)
		}
	}
}

// The corpora of both targets are small studies: a study of the program takes
// 10 to 30 ms to read, and a fuzzer more.
func FuzzParseStudy(f *testing.F) {
	for _, name := range small {
		data, err := os.ReadFile(smallFile(name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("schema: 1\nname: x\nmechanisms: [{name: cmp, parameters: {a: [[1]]}}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 2000 {
			t.Skip("longer than the small studies")
		}
		s, err := study.Parse("fuzz.yaml", data, "")
		if err == nil && s.Check() != nil {
			t.Fatal("a study that was read does not pass its own check")
		}
	})
}

// Input that would exhaust the machine is rejected before it is parsed; a byte
// order mark is accepted.
func TestHostileStudies(t *testing.T) {
	for _, data := range [][]byte{bytes.Repeat([]byte("["), 2<<20), bytes.Repeat([]byte("["), 5000),
		bytes.Repeat([]byte("- "), 5000), bytes.Repeat([]byte("a: b\n"), 5000)} {
		if _, err := study.Parse("x.yaml", data, ""); err == nil || len(err.Error()) > 200 {
			t.Errorf("%.20s: %.300v", data, err)
		}
	}
	parsed(t, "\ufeff"+edit(t, "", ""))
}

// Errors in scenes have positions too, of the value where it stands.
func TestSceneErrorsNameThePlace(t *testing.T) {
	valid := `schema: 1
name: x
seed: 1
mechanisms:
  - {name: cmp}
scenes:
  - name: p
    datasets: [{name: generated-reviews}]
    embeddings: [{name: generated, dimensions: [50]}]
    models: [{name: svm}]
    epsilons: [1]
    settings: [local]
    repetitions: 1
    metrics: {membership: {}}
`
	parsed(t, valid)
	for _, c := range []struct{ old, new, want string }{
		{"name: x\n", "name: x\nstreams: nonsense\n", `x.yaml:3:10: streams = "nonsense": must be one of`},
		{"epsilons: [1]", "epsilon: [1]", `x.yaml:11:5: unknown field "epsilon"`},
		{"settings: [local]", "settings: [both]", `x.yaml:12:16: setting = "both": must be one of`},
		{"scenes:", "panels:", `x.yaml:6:1: unknown field "panels"`},
		{"datasets: [{name: generated-reviews}]", "dataset: {name: generated-reviews}",
			`x.yaml:8:5: unknown field "dataset"; did you mean "datasets"?`},
		{"name: cmp", "name: pmc", `x.yaml:5:12: mechanism = "pmc"`},
		{"membership: {}", "membershp: {}", `x.yaml:14:15: unknown field "membershp"; did you mean "membership"?`},
		{"membership: {}", "deniability: {words: 3}", "x.yaml:14:"},
		{"membership: {}", "cs: {encoder: sif, document: 3}", `x.yaml:14:34: unknown field "document"`},
		{"membership: {}", "cs: {encoder: sif, documents: 3.5}", "x.yaml:14:45: documents = 3.5: must be an integer"},
		{"membership: {}", "inference_error: {most: 6}", "samples must be given"},
		{"membership: {}", "inference_error: {samples: 5, full: true}", "full is gone; now: E_M is over all words"},
		{"seed: 1", "seed: 1\ndocuments: redrawn\nattackers: [overlap]", "x.yaml:4:12: documents"},
	} {
		refused(t, strings.Replace(valid, c.old, c.new, 1), c.want)
	}
}
