package mechanisms

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
)

// anotherBag is the output that stands for all bags that are not among those given.
const anotherBag = "(another bag)"

// Bags is a mechanism as it treats whole documents, as bags of words (Fernandes, Dras &
// McIver 2019, POST, Theorem 1): each word of a bag is replaced alone and the order is
// forgotten. Where m is ε·d-private, the odds of any bag change between two bags of n
// words by at most e^{ε·n·E}, E their Earth mover's distance under d with a weight of 1/n
// for each word; n·E is bagDistance. All bags have one size.
//
// Inputs are the bags given, which are the words of the space that is returned, at the
// mean of their vectors; any other output counts as one, which is post-processing.
func Bags(m *Mechanism, space *embeddings.Space, bags [][]WordID) (*Mechanism, *embeddings.Space, error) {
	g := m.guarantee
	if !g.Holds() || g.Covers != nil || g.Delta > 0 {
		return nil, nil, fmt.Errorf("%s: bags need a guarantee between any two words, without delta",
			m.settings.Mechanism)
	}
	b := &bagSampler{base: m.sampler, numbers: map[string]WordID{}}
	var names []string
	var vectors []float32
	for _, bag := range bags {
		if len(bag) == 0 || len(bag) != len(bags[0]) {
			return nil, nil, fmt.Errorf("a bag of %d words beside one of %d: all have one size", len(bag), len(bags[0]))
		}
		sorted := slices.Sorted(slices.Values(bag))
		if _, again := b.numbers[bagKey(sorted)]; again {
			continue
		}
		b.numbers[bagKey(sorted)] = WordID(len(b.bags))
		b.bags = append(b.bags, sorted)
		names = append(names, strings.Join(list.Map(sorted, m.vocabulary.Word), "+"))
		for i := range space.Dimension {
			sum := float32(0)
			for _, w := range sorted {
				sum += space.Vector(w)[i] / float32(len(sorted))
			}
			vectors = append(vectors, sum)
		}
	}
	inputs, err := embeddings.NewVocabulary(names)
	if err != nil {
		return nil, nil, err
	}
	outputs, err := embeddings.NewVocabulary(append(slices.Clone(names), anotherBag))
	if err != nil {
		return nil, nil, err
	}
	of, err := embeddings.NewSpace("bags of words", inputs, space.Dimension, vectors)
	g.Distance = func(x, y WordID) float64 { return bagDistance(m.guarantee.Distance, b.bags[x], b.bags[y]) }
	g.EuclideanEpsilon = 0
	g.Metric = "bag " + g.Metric
	return &Mechanism{settings: m.settings, guarantee: g, vocabulary: outputs, sampler: b}, of, err
}

// bagKey is a text for an ordered bag.
func bagKey(sorted []WordID) string { return fmt.Sprint(sorted) }

// bagSampler privatises the words of bags.
type bagSampler struct {
	base    sampler
	bags    [][]WordID        // by input, ascending
	numbers map[string]WordID // by key
}

func (b *bagSampler) whole() bool { return false }

// draw privatises the words of all bags of a document together.
func (b *bagSampler) draw(ctx context.Context, documents []document, workers int) error {
	for _, x := range documents {
		var words []WordID
		for _, bag := range x.words {
			words = append(words, b.bags[bag]...)
		}
		if err := b.base.draw(ctx, []document{{words, x.rng}}, workers); err != nil {
			return err
		}
		for i := range x.words {
			size := len(b.bags[0])
			noisy := rowAt(words, i, size)
			slices.Sort(noisy)
			number, known := b.numbers[bagKey(noisy)]
			if !known {
				number = WordID(len(b.bags))
			}
			x.words[i] = number
		}
	}
	return nil
}
