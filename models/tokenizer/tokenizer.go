// Package tokenizer turns text into the ids of pieces that a language model
// reads, from a tokenizer.json (Hugging Face tokenizers): WordPiece, byte-level
// BPE and Unigram models.
//
// It accepts only settings that it follows exactly and refuses others by name,
// because ids that are nearly right give vectors that are silently wrong. Text
// that looks like a special token ("[MASK]", "</s>") is text: what a user
// writes must not steer the model.
package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// Tokenizer is immutable and safe for concurrent use.
type Tokenizer struct {
	Kind          string         // of the model: WordPiece, BPE or Unigram
	Size          int            // number of pieces
	Limit         int            // number of ids at which the file itself cuts a text; 0 without
	Before, After []int          // ids that are put around a text
	Special       map[string]int // ids of tokens such as "[MASK]"

	normalize []func(string) string
	split     []splitter
	metaspace bool // some splitter marks spaces by ▁
	byteLevel bool
	model     model
}

// model turns a part of a text, as the pre-tokenizer makes them, into ids.
type model interface{ ids(part string) []int }

// splitter divides parts of a text further; first tells that the parts begin
// where the text begins.
type splitter func(parts []string, first bool) []string

// file is what we read of tokenizer.json.
type file struct {
	Truncation *struct {
		MaxLength int `json:"max_length"`
	} `json:"truncation"`
	AddedTokens []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
	Normalizer    *component `json:"normalizer"`
	PreTokenizer  *component `json:"pre_tokenizer"`
	PostProcessor *component `json:"post_processor"`
	Model         struct {
		Type              string          `json:"type"`
		Vocab             json.RawMessage `json:"vocab"`
		UnkID             *int            `json:"unk_id"`
		UnkToken          string          `json:"unk_token"`
		ByteFallback      bool            `json:"byte_fallback"`
		Merges            json.RawMessage `json:"merges"`
		Prefix            string          `json:"continuing_subword_prefix"`
		Suffix            string          `json:"end_of_word_suffix"`
		IgnoreMerges      bool            `json:"ignore_merges"`
		MaxCharactersWord int             `json:"max_input_chars_per_word"`
	} `json:"model"`
}

// component is a normaliser, pre-tokeniser or post-processor.
type component struct {
	Type string `json:"type"`

	Normalizers   []component `json:"normalizers"`
	PreTokenizers []component `json:"pretokenizers"`
	Processors    []component `json:"processors"`

	CleanText    *bool           `json:"clean_text"`
	ChineseChars *bool           `json:"handle_chinese_chars"`
	StripAccents *bool           `json:"strip_accents"`
	Lowercase    *bool           `json:"lowercase"`
	StripLeft    *bool           `json:"strip_left"`
	StripRight   *bool           `json:"strip_right"`
	Content      string          `json:"content"`
	Pattern      json.RawMessage `json:"pattern"`

	Replacement    string `json:"replacement"`
	PrependScheme  string `json:"prepend_scheme"`
	AddPrefixSpace *bool  `json:"add_prefix_space"`
	Split          *bool  `json:"split"`
	UseRegex       *bool  `json:"use_regex"`

	Cls    []json.RawMessage `json:"cls"` // token, id
	Sep    []json.RawMessage `json:"sep"`
	Single []struct {
		SpecialToken *struct {
			ID string `json:"id"`
		} `json:"SpecialToken"`
		Sequence *struct{} `json:"Sequence"`
	} `json:"single"`
	SpecialTokens map[string]struct {
		IDs []int `json:"ids"`
	} `json:"special_tokens"`
}

func orTrue(b *bool) bool { return b == nil || *b }

// Open reads tokenizer.json in a folder.
func Open(dir string) (*Tokenizer, error) {
	data, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		return nil, err
	}
	t, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	return t, nil
}

// Parse reads a tokenizer from the content of a tokenizer.json.
func Parse(data []byte) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	if f.Model.Type == "" || len(f.Model.Vocab) == 0 {
		return nil, errors.New("no model with a vocabulary in it")
	}
	t := &Tokenizer{Kind: f.Model.Type, Special: map[string]int{}}
	if f.Truncation != nil {
		t.Limit = max(0, f.Truncation.MaxLength)
	}
	for _, a := range f.AddedTokens {
		if !a.Special {
			return nil, fmt.Errorf("added token %q that is not special: not supported", a.Content)
		}
		t.Special[a.Content] = a.ID
	}
	if f.Normalizer != nil {
		if err := t.addNormalizer(*f.Normalizer); err != nil {
			return nil, err
		}
	}
	if f.PreTokenizer != nil {
		if err := t.addSplitter(*f.PreTokenizer); err != nil {
			return nil, err
		}
	}
	var err error
	switch f.Model.Type {
	case "WordPiece":
		err = t.newWordPiece(&f)
	case "BPE":
		err = t.newBPE(&f)
	case "Unigram":
		err = t.newUnigram(&f)
	default:
		err = fmt.Errorf("model %q: must be WordPiece, BPE or Unigram", f.Model.Type)
	}
	if err == nil && f.PostProcessor != nil {
		err = t.addPostProcessor(*f.PostProcessor)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// vocabulary reads a vocabulary that maps pieces to ids.
func (t *Tokenizer) vocabulary(raw json.RawMessage) (map[string]int, error) {
	if len(raw) > 0 && raw[0] == '[' {
		return nil, fmt.Errorf("model %q has a list of pieces with scores, which is the vocabulary of Unigram", t.Kind)
	}
	var vocab map[string]int
	if err := json.Unmarshal(raw, &vocab); err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	for piece, id := range vocab {
		if id < 0 || id > math.MaxInt32 {
			return nil, fmt.Errorf("piece %q: id = %d", piece, id)
		}
	}
	t.Size = len(vocab)
	return vocab, nil
}

// addPostProcessor reads the tokens that are put around a text.
func (t *Tokenizer) addPostProcessor(c component) error {
	switch c.Type {
	case "ByteLevel":
	case "Sequence":
		for _, child := range c.Processors {
			if err := t.addPostProcessor(child); err != nil {
				return err
			}
		}
	case "BertProcessing", "RobertaProcessing":
		for _, pair := range []struct {
			of []json.RawMessage
			to *[]int
		}{{c.Cls, &t.Before}, {c.Sep, &t.After}} {
			id := -1
			if len(pair.of) != 2 || json.Unmarshal(pair.of[1], &id) != nil || id < 0 {
				return fmt.Errorf("post-processor %q: sep and cls must be a token and its id", c.Type)
			}
			*pair.to = append(*pair.to, id)
		}
	case "TemplateProcessing":
		seen := false
		for _, part := range c.Single {
			switch {
			case part.Sequence != nil:
				seen = true
			case part.SpecialToken != nil && seen:
				t.After = append(t.After, c.SpecialTokens[part.SpecialToken.ID].IDs...)
			case part.SpecialToken != nil:
				t.Before = append(t.Before, c.SpecialTokens[part.SpecialToken.ID].IDs...)
			}
		}
	default:
		return fmt.Errorf("post-processor %q is not supported", c.Type)
	}
	return nil
}

// Encode returns the ids of a text, special tokens included, cut to at most
// limit ids (0: not cut); the tokens after the text stay.
func (t *Tokenizer) Encode(text string, limit int) []int {
	room := math.MaxInt
	if limit > 0 {
		room = max(0, limit-len(t.Before)-len(t.After))
	}
	ids := append([]int(nil), t.Before...)
	for _, part := range t.parts(text, true) {
		if room == 0 {
			break
		}
		found := t.model.ids(part)
		found = found[:min(room, len(found))]
		ids = append(ids, found...)
		room -= len(found)
	}
	ids = append(ids, t.After...)
	if limit > 0 && len(ids) > limit {
		ids = ids[:limit]
	}
	return ids
}

// Word returns the ids of one word of a text whose words are separated by
// single spaces, without special tokens; first tells that it is the text's
// first. The ids of a text are those of its words, for words without white
// space in them.
func (t *Tokenizer) Word(word string, first bool) []int {
	if !first {
		word = " " + word
	}
	var ids []int
	for _, part := range t.parts(word, first) {
		ids = append(ids, t.model.ids(part)...)
	}
	return ids
}

func (t *Tokenizer) parts(text string, first bool) []string {
	for _, f := range t.normalize {
		text = f(text)
	}
	if text == "" {
		return nil
	}
	parts := []string{text}
	for _, f := range t.split {
		parts = f(parts, first)
	}
	return parts
}
