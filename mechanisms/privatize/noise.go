package privatize

import (
	"fmt"
	"slices"

	"mldpbench/stream"
)

// Noise returns the stream that all random choices about a text are drawn from:
//
//	release = SHA-256(0 ‖ p("mldp noise 1") ‖ p(mechanism) ‖ p(variant) ‖ p(parameters) ‖ p(unit) ‖ p(ε)
//	                    ‖ p(vectors) ‖ p(program) ‖ p(length) ‖ p(kept word) ‖ …)
//	noise   = SHA-256(row ‖ p(release) ‖ p(column) ‖ p(text))
//	row     = SHA-256(seed ‖ "#" ‖ number of the row, from 0, in 8 bytes), which is stream.Seed.At
//
// where p(x) is the length of x in 8 bytes, the lowest first, and x; 0 is 32 zero bytes; ε is the shortest decimal
// number that reads back; unit is "word", or "document" where ε is that of a whole record; vectors is their
// fingerprint and program the key of a command, or the fingerprint of a mechanism's public texts, each empty without
// one; length is that of a fixed layout, else 0; kept words are sorted. The column is empty for plain lines. A text of
// tokens is p(each token).
//
// So another text, row, column, mechanism or ε has other noise, and an edited word does not show by the rest of its
// line. Names of files stay out: only the same text in the same row comes out the same. A request to mldp serve brings
// rows' seeds in place of row. Any other secret of a row can take the place of row.
func (s *Stream) Noise(row stream.Seed, column string, text ...string) stream.Seed {
	labels := append([]string{s.release, column}, text...)
	return row.Derive(labels...)
}

// releaseOf is release in the comment of Noise.
func releaseOf(settings []string) string {
	release := stream.Seed{}.Derive(append([]string{"mldp noise 1"}, settings...)...)
	return string(release[:])
}

// settingsOf are the parts of release and of Keyed from the mechanism to the kept words.
func settingsOf(o Options) []string {
	settings := o.Mechanism.Settings()
	unit := "word"
	epsilon := settings.Epsilon
	program := o.Program
	if o.Document > 0 {
		unit = "document"
		epsilon = o.Document
	}
	if d := o.Mechanism.Documents(); d != nil {
		unit = "document"
		program = d.Fingerprint()
	}
	length := max(0, o.Layout)
	labels := []string{settings.Mechanism, string(settings.Variant), settings.Parameters.String(), unit,
		fmt.Sprint(epsilon), o.Vectors, program, fmt.Sprint(int(length))}
	return append(labels, slices.Sorted(slices.Values(o.Mechanism.Kept()))...)
}
