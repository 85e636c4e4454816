package mechanisms

import (
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"mldpbench/embeddings"
)

// newThesaurusSynTF builds what the study's package computes. The candidates of
// a word are its own lemmas in the thesaurus, as printed there, so they reveal
// the word. A candidate that occurs in the corpus has the tf-idf of the *input*
// word as its score, any other candidate 0. The package computes tf-idf over
// the corpus joined into one document, so it is the word's count divided by the
// root of the sum of squared counts.
//
// Inputs are the words of the space and, beyond it, every token of the corpus
// that the thesaurus covers: the vocabulary is extended by these and by all
// lemmas. A word without lemmas is left unchanged, and so is a lemma that is in
// neither the space nor the corpus, because it is not an input.
//
// AsRun reads the train texts only. Its tf-idf has no words of one letter, which
// are left unchanged, as is every word that the train texts do not have.
func newThesaurusSynTF(env Environment, s Settings) (*Mechanism, error) {
	x, err := once(env, synonymsKey(s.Variant), func() (*synonyms, error) {
		return newSynonyms(env, s.Variant)
	})
	if err != nil {
		return nil, err
	}
	g := Guarantee{Reason: "the candidates are the input's own synonyms: an output of one word is " +
		"impossible for another"}
	of := func(word WordID, row []float64) ([]float64, []WordID) {
		if x.stays(word) {
			row = row[:1]
			row[0] = 0
			return row, []WordID{word}
		}
		row = row[:len(x.lemmas[word])]
		for i, y := range x.lemmas[word] {
			row[i] = 0
			if x.counts[y] > 0 {
				row[i] = s.Epsilon / 2 * x.tfidf(word)
			}
		}
		return row, x.lemmas[word]
	}
	return ByScores(s, g, Scores{Vocabulary: x.vocabulary, Of: of}), nil
}

// synonymsKey is the variant that synonyms are for.
type synonymsKey Variant

// synonyms are the lemmas of the words of a space and of a corpus.
type synonyms struct {
	vocabulary  *embeddings.Vocabulary
	lemmas      [][]WordID // of the inputs, which come first in the vocabulary
	counts      []float64  // of the words of the vocabulary in the corpus
	length      float64    // root of the sum of squared counts, of all words of the corpus
	onlyCounted bool       // whether a word without a count stays
}

// newSynonyms counts the words of the corpus that a variant reads.
func newSynonyms(env Environment, v Variant) (*synonyms, error) {
	words := slices.Clone(env.Space.Vocabulary.Words())
	documents := env.Documents
	if v == AsRun {
		documents = env.train()
	}
	counts := map[string]float64{}
	for _, document := range documents {
		for _, token := range document {
			if counts[token] == 0 &&
				env.Space.Vocabulary.ID(token) == embeddings.Unknown &&
				env.Thesaurus.Covers(token) {
				words = append(words, token)
			}
			counts[token]++
		}
	}
	if v == AsRun {
		maps.DeleteFunc(counts, func(w string, _ float64) bool {
			return utf8.RuneCountInString(w) < 2
		})
	}
	var squares float64
	for _, c := range counts {
		squares += c * c // whole numbers: exact in any order
	}
	x := &synonyms{length: math.Sqrt(squares), onlyCounted: v == AsRun}
	words = x.addLemmas(words, env.Thesaurus)
	for _, w := range words {
		x.counts = append(x.counts, counts[w])
	}
	var err error
	x.vocabulary, err = embeddings.NewVocabulary(words)
	return x, err
}

// addLemmas finds the lemmas of words and returns the words with those lemmas after
// them that are not among them.
func (x *synonyms) addLemmas(words []string, thesaurus Thesaurus) []string {
	ids := make(map[string]WordID, len(words))
	for i, w := range words {
		ids[w] = WordID(i)
	}
	x.lemmas = make([][]WordID, len(words))
	for i := range x.lemmas {
		seen := map[string]bool{}
		for _, lemma := range thesaurus.Lemmas(words[i]) {
			if seen[lemma] {
				continue
			}
			seen[lemma] = true
			id, known := ids[lemma]
			if !known {
				id = WordID(len(words))
				ids[lemma] = id
				words = append(words, lemma)
			}
			x.lemmas[i] = append(x.lemmas[i], id)
		}
	}
	return words
}

// stays reports whether a word is left unchanged.
func (x *synonyms) stays(w WordID) bool {
	return int(w) >= len(x.lemmas) || len(x.lemmas[w]) == 0 || x.onlyCounted && x.counts[w] == 0
}

// tfidf is 0 without a corpus.
func (x *synonyms) tfidf(w WordID) float64 {
	if x.length == 0 {
		return 0
	}
	return x.counts[w] / x.length
}
