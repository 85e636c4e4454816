package audit

import (
	"context"
	"fmt"
	"slices"

	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// IndependenceReport is the result of testing whether a rewriter's noise is
// fresh for every word of a document, every document of a request, every
// request and every process. Only then do guarantees per word add up over a
// text: where two words share one noise, their difference is revealed.
type IndependenceReport struct {
	Alpha   float64   // probability of accusing a rewriter whose noise is fresh
	Words   []string  // privatised repeatedly
	Sharing []Sharing // of the most conspicuous word
	Word    string    // that word
	// Shared reports whether two of the Sharing differ by more than chance
	// allows.
	Shared bool
	// Constant reports whether every word had one output whatever the seed:
	// noise that all words share cannot be distinguished from no noise at all.
	Constant bool
}

// Sharing counts how often two outputs for one word were equal, among pairs
// that have in common what Between names and no more. With fresh noise every
// kind of pair is equal equally often, with the sum of the squared output
// probabilities.
type Sharing struct {
	Between      string
	Equal, Pairs int
	Low, High    float64 // interval of the share of equal pairs, 0–1
}

func (s Sharing) String() string {
	return fmt.Sprintf("%d of %d pairs of %s are equal", s.Equal, s.Pairs, s.Between)
}

// Verdict returns the outcome in words.
func (r IndependenceReport) Verdict() string {
	if !r.Shared {
		if r.Constant {
			return "every word has one output whatever the seed: no noise was seen"
		}
		return "not refuted"
	}
	low, high := r.Sharing[0], r.Sharing[0]
	for _, s := range r.Sharing[1:] {
		if s.High < low.High {
			low = s
		}
		if s.Low > high.Low {
			high = s
		}
	}
	return fmt.Sprintf("noise is shared: of the word %q %s, but %s", r.Word, high, low)
}

// Layout of the requests of one word.
const (
	freshWords    = 3  // words looked at
	freshRequests = 16 // per process, even
	freshTokens   = 64 // per document, even; each request has two documents
)

// Independence tests whether noise is fresh. a and b are the same rewriter, b
// in another process where there are processes. Each word is privatised in
// documents that hold nothing else, always under different seeds. Pairs of
// outputs that share a document, a request, a position in two requests of one
// process, or a position in two processes must be equal equally often. The
// shares are compared by Clopper–Pearson intervals, all of which hold at once
// with probability 1−Alpha.
func Independence(ctx context.Context, a, b mechanisms.Rewriter, vocabulary []string, o Options) (IndependenceReport,
	error) {
	r := IndependenceReport{Constant: true}
	if err := o.complete(); err != nil {
		return r, err
	}
	if len(vocabulary) == 0 {
		return r, fmt.Errorf("independence: no words")
	}
	r.Alpha = o.Alpha
	rng := o.Seed.Derive("audit", "independence", "words").Rand()
	for _, i := range rng.Perm(len(vocabulary))[:min(freshWords, len(vocabulary))] {
		r.Words = append(r.Words, vocabulary[i])
	}
	const kinds = 4
	level := 1 - o.Alpha/float64(kinds*len(r.Words))
	widest := 0.0
	for _, word := range r.Words {
		seed := o.Seed.Derive("audit", "independence", word)
		first, err := copies(ctx, a, word, seed.Derive("first"))
		if err != nil {
			return r, err
		}
		second, err := copies(ctx, b, word, seed.Derive("second"))
		if err != nil {
			return r, err
		}
		found := sharings(first, second)
		lowest, highest := 1.0, 0.0
		for i := range found {
			s := &found[i]
			interval, err := stats.ClopperPearson(s.Equal, s.Pairs, level)
			if err != nil {
				return r, err
			}
			s.Low, s.High = interval.Low, interval.High
			lowest, highest = min(lowest, s.High), max(highest, s.Low)
			r.Constant = r.Constant && s.Equal == s.Pairs
		}
		if gap := highest - lowest; r.Sharing == nil || gap > widest {
			r.Word, r.Sharing, widest = word, found, gap
		}
	}
	r.Shared = widest > 0
	return r, nil
}

// request is the answer for two documents of copies of one word.
type request [2][]string

// copies privatises a word in all requests of one process.
func copies(ctx context.Context, r mechanisms.Rewriter, word string, seed stream.Seed) ([]request, error) {
	document := slices.Repeat([]string{word}, freshTokens)
	all := make([]request, freshRequests)
	for i := range all {
		seeds := []stream.Seed{seed.At(uint64(2 * i)), seed.At(uint64(2*i + 1))}
		out, err := r.Rewrite(ctx, [][]string{document, document}, seeds)
		if err != nil {
			return nil, err
		}
		if len(out) != 2 || len(out[0]) != freshTokens || len(out[1]) != freshTokens {
			return nil, fmt.Errorf("%s: documents of %d tokens change their length: words cannot be compared",
				r.Settings().Mechanism, freshTokens)
		}
		all[i] = request{out[0], out[1]}
	}
	return all, nil
}

// sharings counts equal pairs; no output is in two pairs of the same kind.
func sharings(first, second []request) []Sharing {
	words := Sharing{Between: "words of one document"}
	documents := Sharing{Between: "documents of one request"}
	requests := Sharing{Between: "requests to one process"}
	processes := Sharing{Between: "processes"}
	count := func(s *Sharing, x, y string) {
		s.Pairs++
		if x == y {
			s.Equal++
		}
	}
	for r, q := range first {
		for i := range q[0] {
			count(&documents, q[0][i], q[1][i])
			for d := range q {
				if i%2 == 0 {
					count(&words, q[d][i], q[d][i+1])
				}
				if r%2 == 0 {
					count(&requests, q[d][i], first[r+1][d][i])
				}
				count(&processes, q[d][i], second[r][d][i])
			}
		}
	}
	return []Sharing{words, documents, requests, processes}
}
