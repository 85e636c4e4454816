package mechanisms_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/internal/realdata"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/stream"
)

// agNews2024 is what the study measured on AG News at 100 dimensions.
type agNews2024 struct {
	data    *datasets.Dataset
	env     mechanisms.Environment
	train   [][]string
	words   []string // the 25 of N_w and S_w
	english *datasets.WordList
}

func loadAGNews2024(t testing.TB) agNews2024 {
	t.Helper()
	root := realdata.Dir(t)
	file := realdata.File(t, "replication/glove.6B.100d.words.txt.gz")
	realdata.File(t, "replication/ag_news_preprocessed_train.csv.gz")
	realdata.File(t, "wordnet-3.0")
	d, err := datasets.Load(t.Context(), datasets.Request{Name: "agnews-2024", Root: root})
	if err != nil {
		t.Fatal(err)
	}
	a := agNews2024{data: d, train: datasets.Tokens(slices.Concat(d.Train, d.Validation))}
	ranked := embeddings.ByFrequency(a.train)
	known := map[string]bool{}
	for _, w := range ranked {
		known[w] = true
	}
	space, err := embeddings.Load(t.Context(), file, embeddings.LoadOptions{Keep: func(w string) bool { return known[w] }})
	if err != nil {
		t.Fatal(err)
	}
	a.words = strings.Fields("scoreline mouse descent corncrake nerve stupid kazmir wyndham enthusiasm outselling supremo " +
		"inexplicably curt erdogan howell dropping harrop porsche selecting foma accusation sme zvonareva barren corporate")
	thesaurus, err := datasets.OpenWordNet(root)
	if err != nil {
		t.Fatal(err)
	}
	if a.english, err = datasets.OpenNLTKWords(root); err != nil {
		t.Fatal(err)
	}
	a.env = mechanisms.Environment{Space: space, Thesaurus: thesaurus, Train: a.train, DataSet: "agnews-2024"}
	return a
}

// studied are the study's mechanisms.
var studied = []string{"syntf", "cmp", "mahalanobis", "santext", "gumbel", "vickrey", "tem"}

// title is the study's name of a mechanism.
func title(m *mechanisms.Mechanism) string {
	d, _ := mechanisms.Find(m.Settings().Mechanism)
	return strings.TrimPrefix(d.Title, "Truncated ")
}

// privatise returns a mechanism of variant as-run and what it makes of some of
// the train texts.
func (a agNews2024) privatise(t testing.TB, name string, epsilon float64, texts [][]string) (*mechanisms.Mechanism,
	[][]string) {
	t.Helper()
	m, err := mechanisms.New(a.env, mechanisms.Settings{Mechanism: name, Variant: mechanisms.AsRun, Epsilon: epsilon})
	if err != nil {
		t.Fatal(err)
	}
	text, err := mechanisms.Text(context.Background(), m, mechanisms.Keep, texts, stream.FromUint64(36), 2)
	if err != nil {
		t.Fatal(err)
	}
	return m, text
}

// publishedRows are the numbers of one of the study's tables for a data set and
// a dimension, where the table has one, by "mechanism ε metric".
func publishedRows(t testing.TB, name, data, dimension string) map[string]float64 {
	t.Helper()
	dir := os.Getenv("MLDP_PUBLISHED")
	if dir == "" {
		dir = filepath.Join(realdata.Dir(t), "..", "published")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("no published tables: %v", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, r := range rows[1:] {
		if r[0] != data || len(r) == 6 && r[1] != dimension {
			continue
		}
		r = r[len(r)-4:]
		if all[r[1]+" "+r[0]+" "+r[2]], err = strconv.ParseFloat(r[3], 64); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// The study's numbers on AG News at 100 dimensions, computed as its code does.
// N_w and S_w come from its own 25 words: here the mean of 20 measurements of
// 100 runs, and the printed number is within three of their standard deviations
// (a right one misses with probability 0.003 a number). SanText is left out: its
// N_w is the share of words without a vector, 10% with the vectors at hand and
// 4% with the whole file. PP, LOW and English % belong to one privatised text.
//
// Every 50th text is privatised, in which PP, a mean over words, is
// within 0.8 of that of all (measured); LOW and English % depend on how many
// texts there are. MLDP_LONG=all takes all, in two minutes of processor time.
func TestLongAsRunOnAGNews(t *testing.T) {
	all := realdata.Long(t)
	a := loadAGNews2024(t)
	table := publishedRows(t, "table7_agnews_privacy.csv", "AGNews", "100")
	maps.Copy(table, publishedRows(t, "table8_english.csv", "AGNews", ""))
	texts := a.train
	if !all {
		texts = nil
		for i := 0; i < len(a.train); i += 50 {
			texts = append(texts, a.train[i])
		}
	}
	cut := metrics.Cut(texts, 50)
	english := func(documents [][]string) float64 {
		return metrics.Percent(metrics.CountEnglish(documents, a.english.ContainsAsPrinted))
	}
	if e := english(metrics.Cut(a.train, 50)); math.Abs(e-table["Baseline  english_pct"]) > 0.005 {
		t.Errorf("English %% of the plain text %.3f, published %v", e, table["Baseline  english_pct"])
	}
	within, nearPP, nearLOW := 0, 0, 0
	for _, name := range studied {
		for _, epsilon := range []float64{1, 5, 10} {
			start := time.Now()
			m, text := a.privatise(t, name, epsilon, texts)
			took := time.Since(start)
			var nw, sw []float64
			for i := range 20 {
				rng := stream.FromUint64(35).Derive(name).At(uint64(i)).Rand()
				outcomes, err := metrics.MeasureDeniability(m.Vocabulary().Encode(nil, a.words), 100,
					func(dst, src []mechanisms.WordID) error { return m.Privatize(t.Context(), dst, src, rng) })
				if err != nil {
					t.Fatal(err)
				}
				total := metrics.TotalDeniability(outcomes)
				others := 0
				for _, o := range outcomes {
					others += o.Others()
				}
				nw, sw = append(nw, total.Nw()), append(sw, float64(others)/float64(total.Words))
			}
			noisy := metrics.Cut(text, 50)
			changed, err := metrics.CountChanged(cut, noisy, nil)
			if err != nil {
				t.Fatal(err)
			}
			printed := func(metric string) float64 { return table[fmt.Sprintf("%s %v %s", title(m), epsilon, metric)] }
			n, nd := mean(nw)
			s, sd := mean(sw)
			words, both := metrics.Overlap(cut, noisy, 1000)
			low := metrics.Percent(list.Count(both, func(yes bool) bool { return yes }), len(words))
			for _, x := range [][3]float64{{n, nd, printed("Nw")}, {s, sd, printed("Sw")}} {
				if math.Abs(x[0]-x[2]) <= 3*x[1]+0.05 {
					within++
				}
			}
			if math.Abs(changed.PP()-printed("PP")) <= 1.5 {
				nearPP++
			}
			if math.Abs(low-printed("LOW")) <= 1.5 {
				nearLOW++
			}
			t.Logf("%-11s ε %2v  N_w %5.1f ±%3.1f (%5.1f)  S_w %5.1f ±%3.1f (%5.1f)  PP %5.1f (%5.1f)  LOW %5.1f (%5.1f)  "+
				"English %5.2f (%5.2f)  %.1f s", name, epsilon, n, nd, printed("Nw"), s, sd, printed("Sw"), changed.PP(),
				printed("PP"), low, printed("LOW"), english(noisy),
				printed("english_pct"), took.Seconds())
		}
	}
	t.Logf("%d of 42 N_w and S_w within three standard deviations; within 1.5 points %d of 21 PP, %d of 21 LOW", within,
		nearPP, nearLOW)
	if within < 36 || nearPP < 13 || all && nearPP+nearLOW < 24 {
		t.Error("fewer than measured when this was written: 36, 13, and 24 or more of PP and LOW in all texts")
	}
}

// mean returns mean and standard deviation.
func mean(x []float64) (m, deviation float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - m) * (v - m) / float64(len(x)-1)
	}
	return m, math.Sqrt(deviation)
}

// BenchmarkAsRunAccuracy trains the study's network on AG News as its code
// does, five times on one privatised text, and reports the mean accuracy on the
// plain test texts beside the published one: about a minute a cell on two
// cores.
func BenchmarkAsRunAccuracy(b *testing.B) {
	a := loadAGNews2024(b)
	table := publishedRows(b, "table3_accuracy.csv", "AGNews", "100")
	tokenizer := embeddings.NewTokenizer(a.train)
	embedding := models.Embedding{Dimension: a.env.Space.Dimension, Vectors: a.env.Space.Matrix(tokenizer.Words())}
	test := models.Examples{Sequences: tokenizer.Sequences(datasets.Tokens(a.data.Test)),
		Labels: datasets.Labels(a.data.Test)}
	labels := datasets.Labels(slices.Concat(a.data.Train, a.data.Validation))
	measure := func(b *testing.B, text [][]string, seed stream.Seed, published float64) {
		sequences, split := tokenizer.Sequences(text), len(a.data.Train)
		right := make([]float64, 5)
		var epochs atomic.Int64
		var g errgroup.Group
		g.SetLimit(2)
		for i := range right {
			g.Go(func() error {
				m, err := models.New("lstm-2024", models.Options{Classes: 4, Embedding: embedding, Seed: seed.At(uint64(i))})
				if err != nil {
					return err
				}
				h, err := m.Fit(b.Context(), models.Examples{Sequences: sequences[:split], Labels: labels[:split]},
					models.Examples{Sequences: sequences[split:], Labels: labels[split:]})
				if err != nil {
					return err
				}
				epochs.Add(int64(len(h.Epochs)))
				predicted, err := m.Predict(b.Context(), test)
				if err != nil {
					return err
				}
				for k, p := range predicted {
					if p == test.Labels[k] {
						right[i] += 100 / float64(len(predicted))
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			b.Fatal(err)
		}
		accuracy, deviation := mean(right)
		b.ReportMetric(accuracy, "%accuracy")
		b.ReportMetric(deviation, "%deviation")
		b.ReportMetric(published, "%published")
		b.ReportMetric(float64(epochs.Load())/5, "epochs")
	}
	b.Run("baseline", func(b *testing.B) {
		for range b.N {
			measure(b, a.train, stream.FromUint64(37), table["Baseline  accuracy"])
		}
	})
	for _, name := range studied {
		for _, epsilon := range []float64{1, 5, 10} {
			b.Run(fmt.Sprintf("%s/%v", name, epsilon), func(b *testing.B) {
				for range b.N {
					m, text := a.privatise(b, name, epsilon, a.train)
					measure(b, text, stream.FromUint64(38).Derive(name).At(uint64(epsilon)),
						table[fmt.Sprintf("%s %v accuracy", title(m), epsilon)])
				}
			})
		}
	}
}
