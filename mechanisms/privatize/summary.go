package privatize

import (
	"fmt"

	"mldpbench/datasets/table"
)

// Summary is the outcome for the texts. Epsilon is in the units of the
// mechanism (1/distance) and is spent on words of the vocabulary only.
type Summary struct {
	// Every row that was read is one of these.
	Rewritten uint64 `json:"rows_rewritten"`
	Wordless  uint64 `json:"rows_without_words"` // copied: there is nothing to change
	read      uint64

	Records uint64 `json:"records"` // lines or rows with a word of the vocabulary
	Words   uint64 `json:"words"`
	Changed uint64 `json:"changed"` // words of the vocabulary that became another word
	Unknown uint64 `json:"unknown"` // words outside the vocabulary
	Known   uint64 `json:"known"`   // words on which epsilon is spent
	// Of a command of whole texts, of which no words are counted.
	Texts     uint64 `json:"texts,omitempty"`
	Unchanged uint64 `json:"texts_unchanged,omitempty"`

	EpsilonMost  float64 `json:"epsilon_per_record_most"`
	EpsilonTotal float64 `json:"epsilon_total"`
	most         int     // words of a record on which epsilon is spent
}

// counts holds the counts of a piece; known are the words on which epsilon is
// spent.
type counts struct {
	words, changed, unknown, known, texts, copied uint64
}

func (s *Summary) add(c counts) {
	s.Words += c.words
	s.Changed += c.changed
	s.Unknown += c.unknown
	s.Known += c.known
	s.Texts += c.texts
	s.Unchanged += c.copied
}

// check returns an error unless every row that was read is counted.
func (s *Summary) check() error {
	if s.read != s.Rewritten+s.Wordless {
		return fmt.Errorf("%d rows were read, %d of them rewritten and %d without words: what was written is not whole",
			s.read, s.Rewritten, s.Wordless)
	}
	return nil
}

// record is the row that is being written, in one or more parts.
type record struct {
	row          table.Row
	begun        bool
	words, known int // so far
}

// open begins a row, or another part of it.
func (r *record) open(row table.Row, sum *Summary) {
	if !r.begun || row.Record != r.row.Record {
		r.close(sum)
		r.row, r.begun = row, true
	}
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
	r.begun, r.words, r.known = false, 0, 0
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
