package embeddings

import "fmt"

// Restriction is a rule by which words of vectors are used, under a name, by which a cache
// keeps what it leaves.
type Restriction struct {
	Name    string // one word
	Version int    // raised when Keep changes
	Keep    func(word string) bool
}

// String tells restrictions and their versions apart.
func (r *Restriction) String() string { return fmt.Sprintf("%s-%d", r.Name, r.Version) }

// LeftOut says what a restriction left out.
type LeftOut struct {
	Words int    // that were left out
	First string // of them
}

// RestrictTo is Restrict by a rule. LeftOut of the result says what it left out; it is s itself
// if that is nothing.
func (s *Space) RestrictTo(r *Restriction) (*Space, error) {
	left := leftOut(s.Vocabulary, r)
	if left.Words == 0 {
		return s, nil
	}
	restricted, err := s.Restrict(r.Keep)
	if err != nil {
		return nil, err
	}
	restricted.LeftOut = left
	return restricted, nil
}

// leftOut is what a restriction leaves out of a vocabulary.
func leftOut(v *Vocabulary, r *Restriction) LeftOut {
	var left LeftOut
	for id := range WordID(v.Len()) {
		left.look(r, v.Word(id))
	}
	return left
}

// look reports whether a word is kept, and counts it if not.
func (l *LeftOut) look(r *Restriction, word string) bool {
	if r == nil || r.Keep(word) {
		return true
	}
	if l.Words == 0 {
		l.First = word
	}
	l.Words++
	return false
}
