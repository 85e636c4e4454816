// Package datasets turns files into labelled token lists: one file per data
// set, text cleaning, sampling and splits. It knows nothing of embeddings.
package datasets

// Document is one labelled text.
type Document struct {
	ID     int      // row in the source, stable across samples
	Text   string   // as in the source
	Tokens []string // after cleaning and cutting
	Label  int      // index into Dataset.Classes
}

// Dataset is a prepared sample: cleaned, cut, split.
type Dataset struct {
	Name       string
	Classes    []string
	Generated  bool // the built-in generated corpus, never mixed with real data
	WordLevel  bool // every document is one word (Product Reviews)
	Train      []Document
	Validation []Document
	Test       []Document
	// Fingerprint identifies source bytes, sampling and preprocessing: equal
	// fingerprints mean equal tokens and labels.
	Fingerprint string
}
