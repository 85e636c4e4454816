package wordnet

// Tagger assigns parts of speech to words. It is safe for concurrent use.
type Tagger struct{ parts []*index }

// OpenTagger reads the index and exception files of all parts of speech.
func OpenTagger(dir string) (*Tagger, error) {
	parts, err := readParts(dir)
	return &Tagger{parts}, err
}

// PartOfSpeech returns "noun", "verb", "adj" or "adv": the part of speech with
// the most senses in WordNet for a lower-case word, inflected or not, and on a
// tie the first in this order. It returns "" for a word that is not in WordNet,
// such as most function words. Only the word itself counts: "run" is a verb in
// every context.
func (t *Tagger) PartOfSpeech(word string) string {
	best, most := "", 0
	for i, x := range t.parts {
		senses := 0
		for _, form := range x.morphy(word) {
			senses = max(senses, len(x.senses[form]))
		}
		if senses > most {
			best, most = partsOfSpeech[i], senses
		}
	}
	return best
}
