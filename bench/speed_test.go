//go:build linux && speed

// Package bench is the gate of speed: each hot loop against a reference of known
// cost, in turn in one process. Its figures are ratios of processor time,
// which hold on a busy machine; the table of peers is bench.py's.
package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/kernel"
	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/stream"
)

var record = flag.Bool("record", false, "write the median ratios of 20 processes to speed.json")

const (
	rounds  = 15   // of a loop and of its reference, one after the other
	excess  = 1.25 // of the recorded ratio that fails
	unknown = 1.6  // the same, of the largest of other processors, on one that speed.json doesn't know
	child   = "MLDP_SPEED_CHILD"
)

// ratios are of a loop's time to its reference's, by loop.
type ratios map[string]float64

// TestSpeed fails where a loop is too slow against its reference in each of five
// processes: a ratio depends on where a process finds its memory. speed.json has
// a ratio by instruction set, processor and loop.
func TestSpeed(t *testing.T) {
	if os.Getenv(child) != "" {
		fmt.Println(string(must(json.Marshal(measure(t)))))
		return
	}
	const file = "speed.json"
	recorded := map[string]map[string]ratios{}
	if err := json.Unmarshal(must(os.ReadFile(file)), &recorded); err != nil {
		t.Fatal(err)
	}
	set, processor := cmp.Or(os.Getenv("MLDP_SIMD"), kernel.Paths()[0]), processorModel()
	if *record {
		if recorded[set] == nil {
			recorded[set] = map[string]ratios{}
		}
		recorded[set][processor] = medians(t)
		data := append(must(json.MarshalIndent(recorded, "", "  ")), '\n')
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	factor, known := excess, recorded[set][processor]
	if known == nil {
		factor, known = unknown, ratios{}
		for _, other := range recorded[set] {
			for loop, r := range other {
				known[loop] = max(known[loop], r)
			}
		}
		t.Logf("%s doesn't know the processor %q: at most %.2f times the largest ratio of others", file, processor, factor)
	}
	slow := maps.Clone(known)
	for n := 1; n <= 5 && len(slow) > 0; n++ {
		for loop, r := range measureInChild(t) {
			if known[loop] == 0 {
				t.Fatalf("%s has no ratio of %s: make speed RECORD=1", file, loop)
			}
			if slow[loop] > 0 {
				t.Logf("process %d: %-40s %.3f, at most %.3f", n, loop, r, factor*known[loop])
			}
			if r <= factor*known[loop] {
				delete(slow, loop)
			}
		}
	}
	for loop := range slow {
		t.Errorf("%s: above its limit in each of five processes (make speed RECORD=1 if that is meant)", loop)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// medians are those of 20 processes.
func medians(t *testing.T) ratios {
	all, m := map[string][]float64{}, ratios{}
	for range 20 {
		for loop, r := range measureInChild(t) {
			all[loop] = append(all[loop], r)
		}
	}
	for loop, x := range all {
		slices.Sort(x)
		m[loop] = math.Round(1000*(x[9]+x[10])/2) / 1000
	}
	return m
}

// measureInChild is measure in a process of its own.
func measureInChild(t *testing.T) (r ratios) {
	c := exec.Command(os.Args[0], "-test.run=^TestSpeed$")
	c.Env, c.Stderr = append(os.Environ(), child+"=1"), os.Stderr
	out, err := c.Output()
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(out)).Decode(&r)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// processorModel is vendor, family and model, or what arm64 has for them.
func processorModel() string {
	first, _, _ := strings.Cut(string(must(os.ReadFile("/proc/cpuinfo"))), "\n\n")
	var names []string
	for line := range strings.Lines(first) {
		switch key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) {
		case "vendor_id", "cpu family", "model", "CPU implementer", "CPU part":
			names = append(names, strings.TrimSpace(value))
		}
	}
	return strings.Join(names, " ")
}

var loops = []struct {
	name string
	make func(*testing.T) (loop, reference func())
}{
	{"LSTM ÷ its products", lstm},
	{"search ÷ a scan in float32", search},
	{"selection ÷ its products and exponentials", selection},
	{"distance ÷ a dot product", distance},
	{"sparse products ÷ row by row", sparse},
}

func measure(t *testing.T) ratios {
	runtime.GOMAXPROCS(1)
	r := ratios{}
	for _, loop := range loops {
		r[loop.name] = ratio(loop.make(t))
	}
	return r
}

// ratio is the median, over rounds, of the processor time of a loop over that
// of its reference just before and after it.
func ratio(loop, reference func()) float64 {
	timed := func(f func()) float64 {
		start := processor()
		f()
		return processor() - start
	}
	timed(loop) // warms up
	before := timed(reference)
	var all []float64
	for range rounds {
		x := timed(loop)
		after := timed(reference)
		all = append(all, 2*x/(before+after))
		before = after
	}
	slices.Sort(all)
	return all[rounds/2]
}

// processor is the processor time of the process, in seconds.
func processor() float64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return float64(t.Sec) + 1e-9*float64(t.Nsec)
}

func normal(n int) []float32 {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// lstm trains on 6 batches of 64 texts of 40 words, nearly all distinct; the
// reference is the matrix products of that.
func lstm(t *testing.T) (loop, reference func()) {
	const d, h, batch, batches, length, words = 50, 64, 64, 6, 40, 20_000
	rng := rand.New(rand.NewPCG(3, 4))
	x := models.Examples{}
	for i := range batch * batches {
		s := make([]int32, length)
		for j := range s {
			s[j] = int32(rng.IntN(words))
		}
		x.Sequences, x.Labels = append(x.Sequences, s), append(x.Labels, i%2)
	}
	validation := models.Examples{Sequences: x.Sequences[:2], Labels: x.Labels[:2]}
	table := normal(words * d)
	a, b, c := normal(length*batch*4*h), normal(512*4*h), make([]float32, length*batch*4*h)
	loop = func() {
		m, err := models.New("lstm", models.Options{Classes: 2, Seed: stream.FromUint64(5),
			Embedding:  models.Embedding{Dimension: d, Vectors: table},
			Parameters: map[string]any{"epochs": 1}})
		if err == nil {
			_, err = m.Fit(context.Background(), x, validation)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	reference = func() {
		for range batches {
			kernel.Product(kernel.Dense(c, length*batch, 4*h), kernel.Dense(a, length*batch, d+1), kernel.Dense(b, d+1, 4*h))
			for range length {
				kernel.Product(kernel.Dense(c, batch, 4*h), kernel.Dense(a, batch, h), kernel.Dense(b, h, 4*h))
				kernel.Product(kernel.Dense(c, batch, h), kernel.Dense(a, batch, 4*h), kernel.Dense(b, 4*h, h))
			}
			for range length * batch / 128 {
				kernel.AddTransposedProduct(kernel.Dense(c, h, 4*h), kernel.Dense(a, 128, h), kernel.Dense(b, 128, 4*h))
				kernel.AddTransposedProduct(kernel.Dense(c, d+1, 4*h), kernel.Dense(a, 128, d+1), kernel.Dense(b, 128, 4*h))
			}
		}
	}
	return loop, reference
}

// search looks for the nearest word of noisy words of a space; the reference
// multiplies them with all words.
func search(t *testing.T) (loop, reference func()) {
	const n, d, queries = 20_000, 100, 256
	s := spacetest.Gaussian(t, n, d, 0.4, 6)
	noise, q := normal(queries*d), make([]float32, queries*d)
	for i := range q {
		q[i] = s.Vectors[i] + 0.25*noise[i]
	}
	index, found := nearest.Of(s), make([]nearest.Neighbor, queries)
	transposed, c := normal(n*d), make([]float32, queries*n)
	return func() { index.Search(found, q, 1) },
		func() {
			kernel.Product(kernel.Dense(c, queries, n), kernel.Dense(q, queries, d), kernel.Dense(transposed, d, n))
		}
}

// selection draws words that no row is kept for; the reference is the products
// of their distances and, twice, their exponentials, for about the same time.
func selection(t *testing.T) (loop, reference func()) {
	const n, d, words = 20_000, 50, 128
	s := spacetest.Gaussian(t, n, d, 0.4, 7)
	loop = func() {
		m, err := mechanisms.New(mechanisms.Environment{Space: s, Seed: stream.FromUint64(8)},
			mechanisms.Settings{Mechanism: "tem", Epsilon: 3})
		if err != nil {
			t.Fatal(err)
		}
		src, dst := make([]embeddings.WordID, words), make([]embeddings.WordID, words)
		for i := range src {
			src[i] = embeddings.WordID(i * 97 % n)
		}
		if err := m.Privatize(context.Background(), dst, src, stream.FromUint64(9).Rand()); err != nil {
			t.Fatal(err)
		}
	}
	law := kernel.Law{Offset: 1, Most: float32(math.Inf(1)), Least: 4, Rate: 1}
	const block = 16
	transposed, c := normal(n*d), make([]float32, block*n)
	return loop, func() {
		for at := 0; at < words; at += block {
			kernel.Product(kernel.Dense(c, block, n), kernel.Dense(s.Vectors[at*d:], block, d), kernel.Dense(transposed, d, n))
			sink += kernel.WeightSum(c, law) + kernel.WeightSum(c, law)
		}
	}
}

// distance compares single vectors in float64; the reference is a loop in Go.
func distance(*testing.T) (loop, reference func()) {
	const n, d = 2000, 100
	x := normal(n * d)
	each := func(f func(a, b []float32) float64) func() {
		return func() {
			for range 20 {
				for i := range n {
					sink += f(x[:d], x[i*d:(i+1)*d])
				}
			}
		}
	}
	return each(kernel.SquaredDistance), each(func(a, b []float32) float64 {
		var s, t, u, v float64
		for i := 0; i+4 <= len(a) && i+4 <= len(b); i += 4 {
			s += float64(a[i]) * float64(b[i])
			t += float64(a[i+1]) * float64(b[i+1])
			u += float64(a[i+2]) * float64(b[i+2])
			v += float64(a[i+3]) * float64(b[i+3])
		}
		return s + t + u + v
	})
}

// sparse multiplies counts of words in documents and their transpose with vectors; the reference does so row by row.
func sparse(*testing.T) (loop, reference func()) {
	const documents, words, length, times = 4000, 10_000, 50, 20
	rng := rand.New(rand.NewPCG(10, 11))
	m := kernel.CSR{Width: words, Start: []int{0}, Data: normal(documents * length)}
	for i := range documents {
		for range length {
			m.Columns = append(m.Columns, int32(words*rng.Float64()*rng.Float64()*rng.Float64()))
		}
		m.Start = append(m.Start, (i+1)*length)
	}
	forward := m.Pack()
	backward := m.Transposed().Pack()
	byDocument := make([]float64, documents)
	byWord := make([]float64, words)
	loop = func() {
		for range times {
			forward.AddProducts(byDocument, byWord)
			backward.AddProducts(byWord, byDocument)
		}
	}
	reference = func() {
		for range times {
			for i := range documents {
				for k := m.Start[i]; k < m.Start[i+1]; k++ {
					byDocument[i] += float64(m.Data[k]) * byWord[m.Columns[k]]
				}
			}
			for i := range documents {
				for k := m.Start[i]; k < m.Start[i+1]; k++ {
					byWord[m.Columns[k]] += float64(m.Data[k]) * byDocument[i]
				}
			}
		}
	}
	return loop, reference
}

var sink float64
