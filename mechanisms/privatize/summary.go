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

	// Words of the text, where each has a place in what is written.
	Marked Marked `json:"marked"`

	Cut    uint64 `json:"words_cut"`    // of words, by a fixed layout
	Filled uint64 `json:"words_filled"` // beside words, by a fixed layout

	EpsilonMost  float64 `json:"epsilon_per_record_most"` // at most this on a record
	EpsilonTotal float64 `json:"epsilon_total"`
	spent        uint64  // records on which epsilon is spent
	most         uint64  // the most words of a record on which it is
}

// add counts a text.
func (s *Summary) add(p piece) {
	s.Words += uint64(len(p.words) - p.of[filler] + p.cut)
	s.Cut += uint64(p.cut)
	s.Filled += uint64(p.of[filler])
	s.Changed += uint64(p.changed)
	s.Unknown += uint64(p.of[unknown])
	s.Known += uint64(p.of[known])
	s.Marked.add(p.marked)
}

// rows is the number of rows that were read.
func (s *Summary) rows() uint64 { return s.Rewritten + s.Wordless }

// Summary returns the summary of what was run.
func (s *Stream) Summary() Summary {
	sum := s.summary
	epsilon := s.options.Mechanism.Settings().Epsilon
	sum.EpsilonMost = epsilon * float64(sum.most)
	sum.EpsilonTotal = epsilon * float64(sum.Known)
	if document := s.options.Document; document > 0 && sum.spent > 0 {
		sum.EpsilonMost = document
		sum.EpsilonTotal = document * float64(sum.spent)
	}
	return sum
}
