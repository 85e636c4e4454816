package mechanisms

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"mldpbench/embeddings/sentence"
	"mldpbench/internal/check"
	"mldpbench/internal/kernel"
	"mldpbench/internal/memo"
	"mldpbench/internal/params"
	"mldpbench/stream"
)

// Variants of select beside Proved.
const (
	bySimilarity  Variant = "similarity"     // the exponential mechanism, by similarity
	atRandom      Variant = "random"         // any public text
	alwaysNearest Variant = "always-nearest" // the nearest public text, always
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:  "select",
		Title: "Select",
		Source: "issue 78 of this repository; McSherry & Talwar 2007 (exponential mechanism) for the variant " +
			"similarity",
		Metric:    AnyDocuments,
		Order:     160,
		Variants:  []Variant{Proved, bySimilarity, atRandom, alwaysNearest},
		Needs:     Needs{Pool: true},
		Documents: true,
		Parameters: []Parameter{
			{
				Name:    "pool",
				Default: OwnPool,
				Legal:   "a data set, a file of texts, or own",
				Doc:     "the public texts that are published; own: those of the data set that no split has",
			},
			params.AtLeast("size", 0, 0, "texts of the pool that are used; 0: all"),
			{
				Name:     "k",
				Default:  100,
				Legal:    "a whole number >= 1",
				Valid:    params.Between(1, math.Inf(1)),
				Doc:      "texts of the pool that are near, each e^epsilon times as likely as another",
				Variants: []string{string(Proved)},
			},
			{
				Name:    "encoder",
				Default: sifEncoder,
				Legal:   "sif, or a sentence encoder",
				Doc:     "what similarity is of: sif is the mean of word vectors weighted by frequency in the pool",
			},
			params.OneOf("overlap", "what becomes of a text that the pool has too", "refuse", "allow"),
		},
		New: newSelect,
	})
}

// OwnPool is the pool of a data set's own public texts.
const OwnPool = "own"

// sifEncoder is the encoder that needs no model.
const sifEncoder = "sif"

// newSelect publishes a text of a pool of n public ones in place of a private one.
//
// Proved: the k texts nearest to the private one, by cosine, each have weight e^ε, all
// others 1. There are always exactly k, ties broken by place in the pool, also of a text
// without a known word. So the normaliser k·e^ε + n − k is the same for every input, and
// Pr[y|x]/Pr[y|x'] is e^ε, 1 or e^−ε: ε-private between any two documents, whatever their
// lengths, with the whole ε. Nothing else of the text is used. The encoder must not depend
// on other private texts: word frequencies are those of the pool.
//
// The variant similarity has weights e^(ε·u/2), u the cosine clipped to [0, 1]: weights and
// normaliser each differ by e^(ε/2) at most.
func newSelect(env Environment, s Settings) (*Mechanism, error) {
	pool, err := once(env, poolKey{s.Parameters.String()}, func() (*publicPool, error) {
		return openPool(env, s)
	})
	if err != nil {
		return nil, err
	}
	x := selection{publicPool: pool}
	var g Guarantee
	switch s.Variant {
	case bySimilarity:
		g = BetweenDocuments(s.Epsilon, "exponential mechanism; a similarity in [0, 1] has sensitivity 1")
		x.weigh = func(row []float64) {
			for y, u := range row {
				row[y] = s.Epsilon / 2 * min(max(u, 0), 1)
			}
		}
	case atRandom:
		g = BetweenDocuments(0, "the output does not depend on the text")
		x.weigh = func(row []float64) { clear(row) }
	case alwaysNearest:
		g = Guarantee{Reason: "the nearest public text is certain"}
		x.weigh = func(row []float64) { weighNearest(row, 1, math.Inf(1)) }
	default:
		k := s.Parameters["k"].(int)
		if n := len(pool.texts); k > n {
			return nil, check.Wrong("k = %d: the pool has %d texts", k, n)
		}
		g = BetweenDocuments(s.Epsilon, "k public texts have weight e^epsilon and the others 1 whatever is read, so "+
			"the normaliser is the same")
		x.weigh = func(row []float64) { weighNearest(row, k, s.Epsilon) }
	}
	x.documents = Documents{Outputs: pool.texts, LogRows: x.logRows}
	return ByDocuments(env, s, g, Documents{
		Outputs: pool.texts,
		LogRows: x.logRows,
		Draw:    x.draw,
	})
}

// weighNearest replaces similarities by log-weights: that of the k greatest is the given
// one, of equal ones the first, and 0 that of the others; of an infinite one the others
// are impossible.
func weighNearest(row []float64, k int, logWeight float64) {
	order := slices.Clone(row)
	slices.SortFunc(order, func(a, b float64) int { return cmp.Compare(b, a) })
	least := order[k-1]
	equal := 0 // of those that are as near as the last of the k, how many are among these
	for _, u := range order[:k] {
		if u == least {
			equal++
		}
	}
	far := 0.0
	if math.IsInf(logWeight, 1) {
		far = math.Inf(-1)
		logWeight = 0
	}
	for y, u := range row {
		row[y] = far
		switch {
		case u > least:
			row[y] = logWeight
		case u == least && equal > 0:
			row[y] = logWeight
			equal--
		}
	}
}

type poolKey struct{ parameters string }

// publicPool is a list of public texts and what compares others with them, at every ε.
type publicPool struct {
	texts   []string
	tokens  func(text string) []string
	known   map[string]bool // texts by their tokens; nil where they may be private too
	encoder func() (sentence.Encoder, error)
	isModel bool
	made    memo.Memo
}

// openPool opens the pool and the encoder that the parameters name.
func openPool(env Environment, s Settings) (*publicPool, error) {
	name := s.Parameters["pool"].(string)
	if env.Pool == nil {
		return nil, errors.New("there are no public texts here")
	}
	texts, err := env.Pool(name)
	if err != nil {
		return nil, err
	}
	size := s.Parameters["size"].(int)
	if size > len(texts) {
		return nil, check.Wrong("size = %d: the pool %s has %d texts", size, name, len(texts))
	}
	if size > 0 {
		texts = smallestHashes(texts, size)
	}
	if len(texts) < 2 {
		return nil, check.Wrong("pool = %s: must have two different texts or more", name)
	}
	p := &publicPool{texts: texts, tokens: env.tokens}
	if s.Parameters["overlap"] == "refuse" {
		p.known = map[string]bool{}
		for _, text := range texts {
			p.known[strings.Join(env.tokens(text), " ")] = true
		}
	}
	encoder := s.Parameters["encoder"].(string)
	if encoder != sifEncoder {
		if env.Encoder == nil {
			return nil, check.Wrong("encoder = %s: there are no models here", encoder)
		}
		p.isModel = true
		p.encoder = func() (sentence.Encoder, error) { return env.Encoder(encoder) }
		return p, nil
	}
	p.encoder = func() (sentence.Encoder, error) {
		documents := make([][]string, len(texts))
		for i, text := range texts {
			documents[i] = env.tokens(text)
		}
		return sentence.NewSIF(env.Space, documents)
	}
	return p, nil
}

// smallestHashes returns the n texts whose hashes are smallest, in their order: a draw
// that everybody repeats.
func smallestHashes(texts []string, n int) []string {
	type hashed struct {
		place int
		hash  [sha256.Size]byte
	}
	all := make([]hashed, len(texts))
	for i, text := range texts {
		all[i] = hashed{i, sha256.Sum256([]byte(text))}
	}
	slices.SortFunc(all, func(a, b hashed) int { return slices.Compare(a.hash[:], b.hash[:]) })
	all = all[:n]
	slices.SortFunc(all, func(a, b hashed) int { return cmp.Compare(a.place, b.place) })
	drawn := make([]string, n)
	for i, x := range all {
		drawn[i] = texts[x.place]
	}
	return drawn
}

// encodedPool are the vectors of a pool, of length 1, and what made them.
type encodedPool struct {
	encoder sentence.Encoder
	panels  *kernel.Panels
}

// encoded encodes the pool once.
func (p *publicPool) encoded(ctx context.Context) (*encodedPool, error) {
	return memo.Once(&p.made, "pool", func() (*encodedPool, error) {
		encoder, err := p.encoder()
		if err != nil {
			return nil, err
		}
		vectors, err := p.vectors(ctx, encoder, p.texts)
		if err != nil {
			return nil, err
		}
		return &encodedPool{encoder, kernel.PackPanels(slices.Concat(vectors...), len(vectors[0]))}, nil
	})
}

// vectors are those of texts, of length 1, or 0 where a text has no known word.
func (p *publicPool) vectors(ctx context.Context, encoder sentence.Encoder, texts []string) ([][]float32, error) {
	if !p.isModel {
		spelled := make([]string, len(texts))
		for i, text := range texts {
			spelled[i] = strings.Join(p.tokens(text), " ")
		}
		texts = spelled
	}
	vectors, err := encoder.Encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	for _, v := range vectors {
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		length := math.Sqrt(sum)
		if length == 0 {
			continue
		}
		for i, x := range v {
			v[i] = float32(float64(x) / length)
		}
	}
	return vectors, nil
}

// selection is select at one ε.
type selection struct {
	*publicPool
	weigh     func(row []float64) // similarities become log-weights
	documents Documents
}

// logRows weighs the similarities of texts with those of the pool.
func (x selection) logRows(ctx context.Context, texts []string) ([][]float64, error) {
	pool, err := x.encoded(ctx)
	if err != nil {
		return nil, err
	}
	vectors, err := x.vectors(ctx, pool.encoder, texts)
	if err != nil {
		return nil, err
	}
	stride := pool.panels.Stride()
	buffer := make([]float64, kernel.PairRows*stride)
	rows := make([][]float64, 0, len(texts))
	for queries := range slices.Chunk(vectors, kernel.PairRows) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		pool.panels.InnerProducts(buffer, queries...)
		for i := range queries {
			row := slices.Clone(buffer[i*stride : i*stride+len(x.texts)])
			x.weigh(row)
			normalise(row)
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// normalise turns log-weights into log-probabilities.
func normalise(row []float64) {
	total := floats.LogSumExp(row)
	for y := range row {
		row[y] -= total
	}
}

// draw refuses a private text that the pool has, which is none then, and draws. ε does not cover the refusal, which
// says that the pool has the text.
func (x selection) draw(ctx context.Context, texts []string, seeds []stream.Seed) ([]string, error) {
	if x.known != nil {
		for i, text := range texts {
			spelled := strings.Join(x.tokens(text), " ")
			if spelled != "" && x.known[spelled] {
				return nil, check.Wrong("text %d of %d is a text of the pool too: a pool has public texts alone; "+
					"overlap=allow if this one is public", i+1, len(texts))
			}
		}
	}
	return x.documents.DrawRows(ctx, texts, seeds)
}
