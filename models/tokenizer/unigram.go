package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// unigram is SentencePiece's Unigram tokenizer (Kudo 2018): the segmentation
// with the largest sum of piece scores, found by Viterbi search.
type unigram struct {
	pieces       map[string]piece
	longest      int // runes of the longest piece
	unknown      int
	unknownScore float64
}

type piece struct {
	id    int
	score float64
}

// unknownPenalty is the difference between the score of the worst piece and
// that of an unknown character, as in SentencePiece.
const unknownPenalty = 10

// controlPieces mark positions and never stand for text that looks like them.
var controlPieces = map[string]bool{"<unk>": true, "<s>": true, "</s>": true, "<pad>": true}

func (t *Tokenizer) newUnigram(f *file) error {
	var vocab [][2]json.RawMessage
	if err := json.Unmarshal(f.Model.Vocab, &vocab); err != nil {
		return fmt.Errorf("vocabulary: %w", err)
	}
	if f.Model.UnkID == nil || *f.Model.UnkID < 0 || *f.Model.UnkID >= len(vocab) {
		return errors.New("unk_id is missing or not in the vocabulary")
	}
	if f.Model.ByteFallback {
		return errors.New("byte_fallback is not supported")
	}
	if !t.metaspace {
		return fmt.Errorf("a Unigram model needs the Metaspace pre-tokenizer with replacement %q", metaspace)
	}
	u := &unigram{pieces: make(map[string]piece, len(vocab)), unknown: *f.Model.UnkID}
	worst := math.Inf(1)
	for i, entry := range vocab {
		var text string
		var score float64 // null counts as 0
		if err := json.Unmarshal(entry[0], &text); err != nil {
			return fmt.Errorf("piece %d: %w", i, err)
		}
		if err := json.Unmarshal(entry[1], &score); err != nil {
			return fmt.Errorf("piece %d: %w", i, err)
		}
		worst = min(worst, score)
		if text == "" || i == *f.Model.UnkID || controlPieces[text] {
			continue
		}
		u.pieces[text] = piece{i, score} // for a repeated piece the last one counts
		u.longest = max(u.longest, utf8.RuneCountInString(text))
	}
	u.unknownScore = worst - unknownPenalty
	t.Size, t.model = len(vocab), u
	return nil
}

// ids returns the ids of the best segmentation; a run of unknown characters
// is one id. Among segmentations with equal scores, the one with the shortest
// last piece wins, as in the reference implementation.
func (u *unigram) ids(text string) []int {
	starts := make([]int, 0, len(text)+1) // byte offset of each rune, and the end
	for i := range text {
		starts = append(starts, i)
	}
	starts = append(starts, len(text))
	n := len(starts) - 1
	type node struct {
		score float64
		from  int // rune where the last piece starts
		id    int
	}
	best := make([]node, n+1)
	for end := 1; end <= n; end++ {
		best[end].score = math.Inf(-1)
		for from := max(0, end-max(u.longest, 1)); from < end; from++ {
			p, ok := u.pieces[text[starts[from]:starts[end]]]
			if !ok {
				if from < end-1 {
					continue
				}
				p = piece{u.unknown, u.unknownScore}
			}
			if s := best[from].score + p.score; s >= best[end].score {
				best[end] = node{s, from, p.id}
			}
		}
	}
	var ids []int // from the end
	for at := n; at > 0; at = best[at].from {
		id := best[at].id
		if id == u.unknown && len(ids) > 0 && ids[len(ids)-1] == u.unknown {
			continue
		}
		ids = append(ids, id)
	}
	slices.Reverse(ids)
	return ids
}
