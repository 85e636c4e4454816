package tokenizer

import (
	"fmt"
	"unicode/utf8"
)

// wordPiece takes the longest piece that fits, again and again (Devlin et al.
// 2019); a word that cannot be taken apart is unknown as a whole.
type wordPiece struct {
	vocab   map[string]int
	prefix  string // of a piece that continues a word
	unknown int
	longest int // characters of a word
	piece   int // bytes of the longest piece
}

func (t *Tokenizer) newWordPiece(f *file) error {
	vocab, err := t.vocabulary(f.Model.Vocab)
	if err != nil {
		return err
	}
	w := &wordPiece{vocab: vocab, prefix: f.Model.Prefix, longest: f.Model.MaxCharactersWord}
	if w.longest <= 0 {
		w.longest = 100
	}
	unknown, ok := vocab[f.Model.UnkToken]
	if !ok {
		return fmt.Errorf("unk_token %q is not in the vocabulary", f.Model.UnkToken)
	}
	w.unknown = unknown
	for p := range vocab {
		w.piece = max(w.piece, len(p))
	}
	t.model = w
	return nil
}

func (w *wordPiece) ids(word string) []int {
	if utf8.RuneCountInString(word) > w.longest {
		return []int{w.unknown}
	}
	var ids []int
	for rest := word; len(rest) > 0; {
		prefix := ""
		if len(rest) < len(word) {
			prefix = w.prefix
		}
		end := min(len(rest), w.piece)
		for ; end > 0; end-- {
			if end < len(rest) && !utf8.RuneStart(rest[end]) {
				continue
			}
			if id, ok := w.vocab[prefix+rest[:end]]; ok {
				ids = append(ids, id)
				break
			}
		}
		if end <= 0 {
			return []int{w.unknown}
		}
		rest = rest[end:]
	}
	return ids
}
