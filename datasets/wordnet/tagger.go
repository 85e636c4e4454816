package wordnet

// Tagger gives words a part of speech. It is safe for concurrent use.
type Tagger struct{ parts []*index }

// OpenTagger reads the index and exception files of all parts of speech.
func OpenTagger(dir string) (*Tagger, error) {
	t := &Tagger{}
	for _, pos := range partsOfSpeech {
		x, err := readPart(dir, pos)
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, x)
	}
	return t, nil
}

// PartOfSpeech is "noun", "verb", "adj" or "adv": the one in which WordNet
// knows most senses of a lower-case word, inflected or not; the first of them
// in this order where two have as many; "" for a word that WordNet does not
// know, function words above all. It looks at the word alone: "run" is a verb
// wherever it stands.
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
