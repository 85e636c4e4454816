package embeddings

// WithZeroWords returns s with those of the given words that it lacks appended,
// each with the vector of zeros; it returns s itself if it lacks none. Other
// packages also give words without a vector a row of zeros. A mechanism can
// then privatise words that the embedding does not have: they are at distance 0
// from each other and at ‖φ(w)‖ from a word w. New words are in the given
// order; a repeated word counts once.
func (s *Space) WithZeroWords(words []string) (*Space, error) {
	all := s.Vocabulary.Words()[:s.Len():s.Len()]
	seen := map[string]struct{}{}
	for _, w := range words {
		if _, dup := seen[w]; dup || s.Vocabulary.ID(w) != Unknown {
			continue
		}
		seen[w] = struct{}{}
		all = append(all, w)
	}
	if len(all) == s.Len() {
		return s, nil
	}
	vectors := make([]float32, len(all)*s.Dimension)
	copy(vectors, s.Vectors)
	return s.with(all, vectors)
}
