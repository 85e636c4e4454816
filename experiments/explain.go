package experiments

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"mldpbench/datasets/table"
	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/check"
	"mldpbench/internal/progress"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

// Explanation asks what a mechanism makes of words or, without one, which words are near them.
type Explanation struct {
	Call
	Instance
	Of      string // words, or a file of them
	Top     int    // outputs or neighbours of each word
	Samples int    // of each word, where there is no exact method
	Seed    uint64 // of these
}

// Explain lists the likeliest outputs of words, or the words nearest to them.
func Explain(ctx context.Context, e Explanation) (*Outcome, error) {
	o := e.answer()
	words, err := wordsOf(e.Of)
	if err != nil {
		return nil, err
	}
	root := stream.FromUint64(e.Seed)
	if e.Mechanism == "" {
		env, err := e.environment(ctx, o.call, root)
		if err != nil {
			return nil, err
		}
		return o, e.neighbours(o, env.Space, words)
	}
	s, env, err := e.open(ctx, o.call, root)
	if err != nil {
		return nil, err
	}
	if err := checkTakesWords(s); err != nil {
		return nil, err
	}
	m, err := mechanisms.New(env, s)
	if err != nil {
		return nil, err
	}
	return o, e.outputs(ctx, o, m, words)
}

// known looks words up as privatize does, each once; a note names each that the vocabulary does not have.
func (o *Outcome) known(v *embeddings.Vocabulary, words []string) (ids []embeddings.WordID, err error) {
	for _, w := range words {
		id := privatize.Lookup(v, w)
		if id == embeddings.Unknown {
			o.note("%q is not in the vocabulary", w)
		} else if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		err = check.Wrong("words: none of them is in the vocabulary")
	}
	return ids, err
}

// neighbours adds the nearest words of vectors.
func (e Explanation) neighbours(o *Outcome, s *embeddings.Space, words []string) error {
	ids, err := o.known(s.Vocabulary, words)
	if err != nil {
		return err
	}
	var rows [][]any
	k := min(e.Top+1, s.Len())
	for i, n := range nearest.Of(s).Words(ids, k) {
		if id := ids[i/k]; n.ID != id {
			rows = append(rows, []any{s.Vocabulary.Word(id), s.Vocabulary.Word(n.ID), n.Distance})
		}
	}
	o.table("neighbours", []string{"word", "neighbour", "distance"}, rows)
	return nil
}

// outputs adds the likeliest outputs of words, and notes how their probabilities
// are known and what is guaranteed.
func (e Explanation) outputs(ctx context.Context, o *Outcome, m *mechanisms.Mechanism, words []string) error {
	v := m.Vocabulary()
	ids, err := o.known(v, words)
	if err != nil {
		return err
	}
	bar := progress.Start(ctx, "words", len(ids))
	defer bar.Close()
	how := "closed form"
	seed := stream.FromUint64(e.Seed)
	var rows [][]any
	for _, id := range ids {
		d, err := mechanisms.Outputs(ctx, m, id, e.Samples, seed.At(uint64(id)).Derive("samples"))
		if err != nil {
			return err
		}
		if d.Samples > 0 {
			how = fmt.Sprintf("%d samples, error of every probability at most %.2g (95%%)", d.Samples, d.Error)
		}
		order := slices.DeleteFunc(v.IDs(), func(y embeddings.WordID) bool {
			return d.Probabilities[y] == 0
		})
		slices.SortStableFunc(order, func(a, b embeddings.WordID) int {
			return cmp.Compare(d.Probabilities[b], d.Probabilities[a])
		})
		for _, y := range order[:min(e.Top, len(order))] {
			rows = append(rows, []any{v.Word(id), v.Word(y), d.Probabilities[y]})
		}
		bar.Add(1, v.Word(id))
	}
	bar.Close()
	o.note("%s: %s; guarantee per word: %s", instanceName(m.Settings()), how, m.Guarantee())
	o.table("outputs", []string{"word", "becomes", "probability"}, rows)
	return nil
}

// fileName is a name that is one of a file rather than a word.
var fileName = regexp.MustCompile(`/|\\|\.(txt|csv|tsv|lst|list|dic|json|jsonl|words|stop|gz)$`)

// wordsOf reads a list of words, from a file of that name if there is one.
func wordsOf(list string) (words []string, err error) {
	if info, err := os.Stat(list); err == nil && !info.IsDir() {
		return words, table.LinesOf(list, func(line string) error {
			words = append(words, strings.Fields(line)...)
			return nil
		})
	}
	words = strings.Fields(list)
	switch {
	case len(words) == 0:
		err = check.Wrong("words = %q: must be a file or words", list)
	case len(words) == 1 && fileName.MatchString(list):
		err = check.Wrong("%s: there is no such file of words", list)
	}
	return words, err
}
