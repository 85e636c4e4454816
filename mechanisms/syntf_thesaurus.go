package mechanisms

import (
	"maps"
	"math"
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
	counts := map[string]float64{}
	words := env.Space.Vocabulary.Words()
	words = words[:len(words):len(words)]
	documents := env.Documents
	if s.Variant == AsRun {
		documents = env.train()
	}
	for _, document := range documents {
		for _, token := range document {
			if counts[token] == 0 && env.Space.Vocabulary.ID(token) == embeddings.Unknown &&
				env.Thesaurus.Covers(token) {
				words = append(words, token)
			}
			counts[token]++
		}
	}
	if s.Variant == AsRun {
		maps.DeleteFunc(counts, func(w string, _ float64) bool { return utf8.RuneCountInString(w) < 2 })
	}
	var squares float64
	for _, c := range counts {
		squares += c * c // whole numbers: exact in any order
	}
	inputs := len(words)
	ids := make(map[string]WordID, len(words))
	for i, w := range words {
		ids[w] = WordID(i)
	}
	lemmas := make([][]WordID, inputs)
	for i := range inputs {
		seen := map[string]bool{}
		for _, lemma := range env.Thesaurus.Lemmas(words[i]) {
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
			lemmas[i] = append(lemmas[i], id)
		}
	}
	vocabulary, err := embeddings.NewVocabulary(words)
	if err != nil {
		return nil, err
	}
	tfidf := func(w WordID) float64 {
		if squares == 0 {
			return 0
		}
		return counts[words[w]] / math.Sqrt(squares)
	}
	g := Guarantee{Reason: "the candidates are the input's own synonyms: an output of one word is " +
		"impossible for another"}
	scores := func(word WordID, epsilon float64, row []float64) ([]float64, []WordID) {
		if int(word) >= inputs || len(lemmas[word]) == 0 || s.Variant == AsRun && counts[words[word]] == 0 {
			row = row[:1]
			row[0] = 0
			return row, []WordID{word}
		}
		row = row[:len(lemmas[word])]
		for i, y := range lemmas[word] {
			row[i] = 0
			if counts[words[y]] > 0 {
				row[i] = epsilon / 2 * tfidf(word)
			}
		}
		return row, lemmas[word]
	}
	return newSelector(s, g, vocabulary, nil, scores), nil
}
