package sentence

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// tokenizerFile is what we read of tokenizer.json (Hugging Face tokenizers).
type tokenizerFile struct {
	Truncation *struct {
		MaxLength int `json:"max_length"`
	} `json:"truncation"`
	Normalizer    *component `json:"normalizer"`
	PreTokenizer  *component `json:"pre_tokenizer"`
	PostProcessor *struct {
		Type   string `json:"type"`
		Single []struct {
			SpecialToken *struct {
				ID string `json:"id"`
			} `json:"SpecialToken"`
			Sequence *struct{} `json:"Sequence"`
		} `json:"single"`
		SpecialTokens map[string]struct {
			IDs []uint32 `json:"ids"`
		} `json:"special_tokens"`
	} `json:"post_processor"`
	Model struct {
		Type         string          `json:"type"`
		UnkID        *int            `json:"unk_id"`
		Vocab        json.RawMessage `json:"vocab"` // list of [piece, score] for Unigram
		ByteFallback bool            `json:"byte_fallback"`
	} `json:"model"`
}

// component is a normaliser or pre-tokeniser.
type component struct {
	Type           string      `json:"type"`
	Replacement    string      `json:"replacement"`
	PrependScheme  string      `json:"prepend_scheme"`
	AddPrefixSpace *bool       `json:"add_prefix_space"` // older spelling of prepend_scheme
	Split          *bool       `json:"split"`
	Normalizers    []component `json:"normalizers"`
	PreTokenizers  []component `json:"pretokenizers"`
}

const metaspace = "▁" // U+2581 stands for a space inside pieces

// unigram is SentencePiece's Unigram tokenizer (Kudo 2018): the segmentation
// with the largest sum of piece scores, found by Viterbi search. It accepts
// only settings of tokenizer.json that it can follow exactly and rejects
// others.
type unigram struct {
	pieces         map[string]piece
	longest        int // runes of the longest piece
	unknown        uint32
	unknownScore   float64
	normalize      []func(string) string
	prepend        bool // a metaspace before the text
	split          bool // no piece spans two words
	prefix, suffix []uint32
}

type piece struct {
	id    uint32
	score float64
}

// unknownPenalty is the difference between the score of the worst piece and
// that of an unknown character, as in SentencePiece.
const unknownPenalty = 10

// controlPieces mark positions and never stand for text that looks like them.
var controlPieces = map[string]bool{"<unk>": true, "<s>": true, "</s>": true, "<pad>": true}

func newUnigram(f *tokenizerFile) (*unigram, error) {
	var vocab [][2]json.RawMessage
	if err := json.Unmarshal(f.Model.Vocab, &vocab); err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	if f.Model.UnkID == nil || *f.Model.UnkID < 0 || *f.Model.UnkID >= len(vocab) {
		return nil, fmt.Errorf("unk_id is missing or not in the vocabulary")
	}
	if f.Model.ByteFallback {
		return nil, fmt.Errorf("byte_fallback is not supported")
	}
	u := &unigram{pieces: make(map[string]piece, len(vocab)), unknown: uint32(*f.Model.UnkID)}
	worst := math.Inf(1)
	for i, entry := range vocab {
		var text string
		var score float64 // null counts as 0
		if err := json.Unmarshal(entry[0], &text); err != nil {
			return nil, fmt.Errorf("piece %d: %w", i, err)
		}
		if err := json.Unmarshal(entry[1], &score); err != nil {
			return nil, fmt.Errorf("piece %d: %w", i, err)
		}
		worst = min(worst, score)
		if text == "" || i == *f.Model.UnkID || controlPieces[text] {
			continue
		}
		u.pieces[text] = piece{uint32(i), score} // for a repeated piece the last one counts
		u.longest = max(u.longest, utf8.RuneCountInString(text))
	}
	u.unknownScore = worst - unknownPenalty
	if f.Normalizer != nil {
		if err := u.addNormalizer(*f.Normalizer); err != nil {
			return nil, err
		}
	}
	if err := u.setPreTokenizer(f.PreTokenizer); err != nil {
		return nil, err
	}
	return u, u.setPostProcessor(f)
}

func (u *unigram) addNormalizer(c component) error {
	switch c.Type {
	case "NFC":
		u.normalize = append(u.normalize, norm.NFC.String)
	case "NFD":
		u.normalize = append(u.normalize, norm.NFD.String)
	case "NFKC":
		u.normalize = append(u.normalize, norm.NFKC.String)
	case "NFKD":
		u.normalize = append(u.normalize, norm.NFKD.String)
	case "Lowercase":
		u.normalize = append(u.normalize, strings.ToLower)
	case "Sequence":
		for _, child := range c.Normalizers {
			if err := u.addNormalizer(child); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("normalizer %q is not supported for Unigram models", c.Type)
	}
	return nil
}

func (u *unigram) setPreTokenizer(c *component) error {
	if c != nil && c.Type == "Sequence" && len(c.PreTokenizers) == 2 && c.PreTokenizers[0].Type == "WhitespaceSplit" {
		c = &c.PreTokenizers[1] // Encode has made white space single spaces, which Metaspace splits at anyway
		if c.Split != nil && !*c.Split {
			return fmt.Errorf("pre-tokenizer WhitespaceSplit with an unsplit Metaspace is not supported")
		}
	}
	if c == nil || c.Type != "Metaspace" || c.Replacement != metaspace {
		return fmt.Errorf("a Unigram model needs the Metaspace pre-tokenizer with replacement %q", metaspace)
	}
	switch c.PrependScheme {
	case "always", "first":
		u.prepend = true
	case "":
		u.prepend = c.AddPrefixSpace == nil || *c.AddPrefixSpace
	case "never":
	default:
		return fmt.Errorf("prepend_scheme %q is not supported", c.PrependScheme)
	}
	u.split = c.Split == nil || *c.Split
	return nil
}

func (u *unigram) setPostProcessor(f *tokenizerFile) error {
	p := f.PostProcessor
	if p == nil {
		return nil
	}
	if p.Type != "TemplateProcessing" {
		return fmt.Errorf("post-processor %q is not supported for Unigram models", p.Type)
	}
	seen := false
	for _, part := range p.Single {
		switch {
		case part.Sequence != nil:
			seen = true
		case part.SpecialToken != nil && seen:
			u.suffix = append(u.suffix, p.SpecialTokens[part.SpecialToken.ID].IDs...)
		case part.SpecialToken != nil:
			u.prefix = append(u.prefix, p.SpecialTokens[part.SpecialToken.ID].IDs...)
		}
	}
	return nil
}

// encode returns the ids of a sentence whose words are separated by single
// spaces, special tokens included, cut to at most limit ids (0: no limit).
func (u *unigram) encode(text string, limit int) []uint32 {
	for _, f := range u.normalize {
		text = f(text)
	}
	text = strings.ReplaceAll(text, " ", metaspace)
	if u.prepend && text != "" && !strings.HasPrefix(text, metaspace) {
		text = metaspace + text
	}
	ids := append([]uint32(nil), u.prefix...)
	room := math.MaxInt
	if limit > 0 {
		room = max(0, limit-len(u.prefix)-len(u.suffix))
	}
	for len(text) > 0 && room > 0 {
		word := text
		if u.split {
			if i := strings.Index(text[1:], metaspace); i >= 0 {
				word = text[:i+1]
			}
		}
		found := u.segment(word)
		found = found[:min(room, len(found))]
		ids = append(ids, found...)
		room -= len(found)
		text = text[len(word):]
	}
	return append(ids, u.suffix...)
}

// segment returns the ids of the best segmentation; a run of unknown characters
// is one id. Among segmentations with equal scores, the one with the shortest
// last piece wins, as in the reference implementation.
func (u *unigram) segment(text string) []uint32 {
	starts := make([]int, 0, len(text)+1) // byte offset of each rune, and the end
	for i := range text {
		starts = append(starts, i)
	}
	starts = append(starts, len(text))
	n := len(starts) - 1
	type node struct {
		score float64
		from  int // rune where the last piece starts
		id    uint32
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
	var ids []uint32 // from the end
	for at := n; at > 0; at = best[at].from {
		id := best[at].id
		if id == u.unknown && len(ids) > 0 && ids[len(ids)-1] == u.unknown {
			continue
		}
		ids = append(ids, id)
	}
	for i, j := 0, len(ids)-1; i < j; i, j = i+1, j-1 {
		ids[i], ids[j] = ids[j], ids[i]
	}
	return ids
}
