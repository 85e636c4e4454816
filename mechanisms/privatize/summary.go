package privatize

// Summary is the outcome for the texts. Epsilon is in the units of the
// mechanism (1/distance) and is spent on words of the vocabulary only. A command
// decides about all words.
type Summary struct {
	// Every row that was read is one of these.
	Rewritten uint64 `json:"rows_rewritten"`
	Wordless  uint64 `json:"rows_without_words"` // copied: there is nothing to change

	Words   uint64 `json:"words"`   // of a command of whole texts: texts
	Changed uint64 `json:"changed"` // words that became another word, of those on which epsilon is spent
	Unknown uint64 `json:"unknown"` // words outside the vocabulary
	Known   uint64 `json:"known"`   // words on which epsilon is spent

	EpsilonMost  float64 `json:"epsilon_per_record_most"` // at most this on a record
	EpsilonTotal float64 `json:"epsilon_total"`
	most         int     // words of a record
}

func (s *Summary) add(p piece) {
	s.Words += uint64(len(p.words))
	s.Changed += uint64(p.changed)
	s.Unknown += uint64(p.unknown)
	s.Known += uint64(p.known)
}

// Summary returns the summary of what was run. perWord is the epsilon of
// a word; document, if not 0, that of a whole record.
func (s *Stream) Summary(perWord, document float64) Summary {
	out := s.summary
	out.EpsilonMost, out.EpsilonTotal = perWord*float64(out.most), perWord*float64(out.Known)
	if document > 0 && out.Rewritten > 0 {
		out.EpsilonMost, out.EpsilonTotal = document, document*float64(out.Rewritten)
	}
	return out
}
