package privatize

// Summary is the outcome for the texts. Epsilon is in the units of the
// mechanism (1/distance) and is spent on words of the vocabulary only. A command
// decides about all words.
type Summary struct {
	// Every row that was read is one of these.
	Rewritten uint64 `json:"rows_rewritten"`
	Wordless  uint64 `json:"rows_without_words"` // copied: there is nothing to change

	Records uint64 `json:"records"` // lines or rows with a word on which epsilon is spent
	Words   uint64 `json:"words"`   // of a command of whole texts: texts
	Changed uint64 `json:"changed"` // words that became another word, of those on which epsilon is spent
	Unknown uint64 `json:"unknown"` // words outside the vocabulary
	Known   uint64 `json:"known"`   // words on which epsilon is spent

	EpsilonMost  float64 `json:"epsilon_per_record_most"`
	EpsilonTotal float64 `json:"epsilon_total"`
	most         int     // words of a record on which epsilon is spent
}

// record is the row that is being written, in one or more pieces.
type record struct {
	number       uint64
	begun        bool
	words, known int // so far
}

// count adds a piece.
func (r *record) count(p *piece, sum *Summary) {
	if r.begun && p.record != r.number {
		r.close(sum)
	}
	r.number, r.begun = p.record, true
	r.words, r.known = r.words+len(p.words), r.known+p.known
	sum.Words += uint64(len(p.words))
	sum.Changed += uint64(p.changed)
	sum.Unknown += uint64(p.unknown)
	sum.Known += uint64(p.known)
}

func (r *record) close(sum *Summary) {
	switch {
	case !r.begun:
		return
	case r.words > 0:
		sum.Rewritten++
	default:
		sum.Wordless++
	}
	if r.known > 0 {
		sum.Records, sum.most = sum.Records+1, max(sum.most, r.known)
	}
	*r = record{}
}

// Summary returns the summary of what was run. perWord is the epsilon of
// a word; document, if not 0, that of a whole record.
func (s *Stream) Summary(perWord, document float64) Summary {
	out := s.summary
	out.EpsilonMost, out.EpsilonTotal = perWord*float64(out.most), perWord*float64(out.Known)
	if document > 0 && out.Records > 0 {
		out.EpsilonMost, out.EpsilonTotal = document, document*float64(out.Records)
	}
	return out
}
