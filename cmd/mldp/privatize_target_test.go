package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/experiments"
	"mldpbench/experiments/lab"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/channel"
	"mldpbench/stream"
)

// What a run leaves in the cache does not depend on the text: others may read it. Only when a file was checked, its
// stamp, does.
func TestCacheKeepsNothingOfAText(t *testing.T) {
	dir := t.TempDir()
	vectors := filepath.Join(dir, "vectors.txt")
	writeFile(t, vectors, noiseVectors())
	cached := func(seed uint64) map[string]string {
		text := filepath.Join(dir, "text.txt")
		writeFile(t, text, strings.Join(textsOf(seed)[:60], "\n")+"\n")
		var said bytes.Buffer
		c := call{dir: dir, env: map[string]string{"XDG_CACHE_HOME": filepath.Join(dir, "cache")}, stdout: io.Discard,
			stderr: &said}
		code := c.run("privatize", "--mechanism", "tem", "--target", "em=0.5", "--embedding", vectors, text)
		if code != exitOK {
			t.Fatalf("exit code %d: %s", code, &said)
		}
		files := map[string]string{}
		cache := os.DirFS(filepath.Join(dir, "cache"))
		err := fs.WalkDir(cache, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, ".stamp") || strings.HasSuffix(path, ".source") {
				return err
			}
			data, err := fs.ReadFile(cache, path)
			files[path] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	first := cached(1)
	second := cached(2)
	if len(first) == 0 {
		t.Fatal("nothing is in the cache, want the vectors")
	}
	for path, content := range second {
		before, there := first[path]
		if !there {
			t.Errorf("%s came with another text, want no new file", path)
		}
		if there && before != content {
			t.Errorf("%s changed with the text, want it as it was", path)
		}
	}
}

// What privatize says of a target holds: the MAP attacker, who learns the mechanism from
// draws of his own and knows how often each word occurs in the file, finds as many words
// of the output as was said.
func TestTargetHoldsAgainstTheMapAttacker(t *testing.T) {
	t.Parallel()
	const words, dimension, rows, length = 150, 6, 600, 20
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	file := func(name string) string { return filepath.Join(dir, name) }
	var vectors, table strings.Builder
	for w := range words {
		fmt.Fprintf(&vectors, "w%d", w)
		for range dimension {
			fmt.Fprintf(&vectors, " %.4f", rng.NormFloat64())
		}
		vectors.WriteString("\n")
	}
	counts := make([]int, words)
	table.WriteString("id,body\n")
	for i := range rows {
		fmt.Fprintf(&table, "%d,", i)
		for range length {
			w := int(math.Pow(words/2, rng.Float64())*2) - 2 // half of the vectors' words and more are frequent
			counts[w]++
			fmt.Fprintf(&table, "w%d ", w)
		}
		table.WriteString("outside\n")
	}
	for name, text := range map[string]string{"v.txt": vectors.String(), "in.csv": table.String()} {
		if err := os.WriteFile(file(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	space, err := lab.OpenSpace(t.Context(), file("v.txt"), 0, dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	prior := channel.Empirical(counts)
	said := regexp.MustCompile(`(?m)^bought: .* still recovers ([0-9.]+)% ` +
		`\(([0-9.]+) to ([0-9.]+)\) of its 12000 words`)
	for mechanism, level := range map[string]float64{"": 0.5, "cmp": 0.7, "k-rr": 0.4} { // none is the best one
		args := []string{"privatize", file("in.csv"), "--column", "body", "--embedding", file("v.txt"), "--target",
			fmt.Sprintf("em=%v", level), "--seed", "3", "--out", file("out.csv"), "--force", "--report", file("r.json")}
		if mechanism != "" {
			args = append(args, "--mechanism", mechanism)
		}
		code, out := mldp(t, args...)
		share, epsilon := said.FindStringSubmatch(out), regexp.MustCompile(`, epsilon ([0-9.e-]+);`).FindStringSubmatch(out)
		report, err := os.ReadFile(file("r.json"))
		reported := strings.Contains(string(report), "bought: an adversary")
		if code != exitOK || share == nil || epsilon == nil || err != nil || !reported {
			t.Fatalf("%s, %v: exit code %d\n%s", mechanism, level, code, out)
		}
		number := func(text string) float64 {
			v, _ := strconv.ParseFloat(text, 64) // matched
			return v
		}
		if wrong := 1 - number(share[1])/100; wrong < level-0.001 || wrong > level+0.02 {
			t.Errorf("%s, %v: a Bayes adversary misidentifies %v", mechanism, level, wrong)
		}
		name := mechanism
		if name == "" {
			name = experiments.BestMechanism
		}
		m, err := mechanisms.New(mechanisms.Environment{Space: space}, mechanisms.Settings{Mechanism: name,
			Epsilon: number(epsilon[1])})
		if err != nil {
			t.Fatal(err)
		}
		i, err := channel.Estimate(t.Context(), m, prior, channel.Options{Samples: 500, Seed: stream.FromUint64(9),
			Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file("out.csv"))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		before, after := strings.Fields(table.String()), strings.Fields(string(text))
		if len(before) != len(after) {
			t.Fatalf("%d words for %d", len(after), len(before))
		}
		word := func(field string) embeddings.WordID {
			return space.Vocabulary.ID(field[strings.LastIndexByte(field, ',')+1:])
		}
		for k := range after {
			if x := word(before[k]); x != embeddings.Unknown && i.Errors[1].Decoder.Guess[word(after[k])] == int32(x) {
				found++
			}
		}
		// The interval is that of 20,000 draws or none; the file has 12,000 words.
		got, error := 100*float64(found)/12000, 100*2.5*math.Sqrt(0.25/12000)
		if got < number(share[2])-error || got > number(share[3])+error {
			t.Errorf("%s, %v: %v%% of the words are found, not %s to %s", mechanism, level, got, share[2], share[3])
		}
	}
}
