package privatize

import (
	"maps"
	"slices"
)

// Summary is the outcome for the texts. Epsilon is in the units of the
// mechanism (1/distance) and is spent on words of the vocabulary only.
type Summary struct {
	Records uint64 `json:"records"` // lines or rows with a word of the vocabulary
	Words   uint64 `json:"words"`
	Changed uint64 `json:"changed"`                         // words of the vocabulary that became another word
	Unknown uint64 `json:"unknown"`                         // words outside the vocabulary
	Missing uint64 `json:"records_without_field,omitempty"` // copied: they lack a chosen field
	// Of a command of whole texts, of which no words are counted.
	Texts     uint64 `json:"texts,omitempty"`
	Unchanged uint64 `json:"texts_unchanged,omitempty"`

	EpsilonMedian float64 `json:"epsilon_per_record_median"`
	EpsilonMost   float64 `json:"epsilon_per_record_most"`
	EpsilonTotal  float64 `json:"epsilon_total"`
}

// counts holds the counts of some pieces.
type counts struct{ words, changed, unknown, texts, copied uint64 }

func (s *Summary) add(c counts) {
	s.Words += c.words
	s.Changed += c.changed
	s.Unknown += c.unknown
	s.Texts += c.texts
	s.Unchanged += c.copied
}

// spending counts records by their number of known words.
type spending struct {
	record  uint64
	known   int // of that record so far
	begun   bool
	records map[int]uint64
}

func (s *spending) words(record uint64, known int) {
	if s.begun && record == s.record {
		s.known += known
		return
	}
	s.close()
	s.record, s.known, s.begun = record, known, true
}

func (s *spending) close() {
	if !s.begun {
		return
	}
	if s.records == nil {
		s.records = map[int]uint64{}
	}
	if s.known > 0 {
		s.records[s.known]++
	}
	s.begun = false
}

// Summary returns the summary of all streams so far. perWord is the epsilon of
// a word; document, if not 0, that of a whole record.
func (s *Stream) Summary(perWord, document float64) Summary {
	out := s.summary
	out.Records = 0
	cost := func(words int) float64 {
		if document > 0 {
			return document
		}
		return perWord * float64(words)
	}
	for words, n := range s.spent.records {
		out.Records += n
		out.EpsilonTotal += float64(n) * cost(words)
		out.EpsilonMost = max(out.EpsilonMost, cost(words))
	}
	var before uint64
	for _, words := range slices.Sorted(maps.Keys(s.spent.records)) {
		before += s.spent.records[words]
		if 2*before >= out.Records {
			out.EpsilonMedian = cost(words)
			break
		}
	}
	return out
}
