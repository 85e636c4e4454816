package nearest

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
	"mldpbench/internal/mapped"
)

// panelsVersion is raised when pack changes what it makes.
const panelsVersion = 1

// panelsMeta is what a file of panels knows beside its parts, which are named as in packed.
type panelsMeta struct {
	Exponent int
	Groups   int
}

// panelsOf opens the panels of a space in a geometry, which lie beside the file of the space, or
// makes them. What cannot be written stays in memory.
func panelsOf(s *embeddings.Space, geometry kernel.Geometry) *packed {
	if s.File() == "" {
		return pack(s, geometry)
	}
	path := fmt.Sprintf("%s.%dx%d.panels", s.File(), geometry.PanelWords, geometry.Levels)
	kind := fmt.Sprintf("mldp panels %d: %d words, %d levels", panelsVersion, geometry.PanelWords, geometry.Levels)
	f, err := mapped.Open(path, kind)
	if err == nil && f.Key == s.Fingerprint() {
		p := openPanels(f, geometry)
		if p.fits(s) {
			return p
		}
	}
	p := pack(s, geometry)
	written, err := mapped.Write(path, kind, func(w *mapped.Writer) error {
		w.Key = s.Fingerprint()
		w.Meta = panelsMeta{Exponent: p.exponent, Groups: p.groups}
		p.write(w)
		return w.Err()
	})
	if err != nil {
		return p
	}
	return openPanels(written, geometry) // the memory of p is free again
}

// write writes the parts of panels.
func (p *packed) write(w *mapped.Writer) {
	w.Begin("ids")
	mapped.Append(w, p.ids)
	w.Begin("center")
	mapped.Append(w, p.center)
	w.Begin("heads")
	mapped.Append(w, p.heads)
	w.Begin("bounds")
	mapped.Append(w, p.bounds)
	w.Begin("bytes")
	mapped.Append(w, p.bytes)
}

// openPanels takes panels as they lie in a file.
func openPanels(f *mapped.File, geometry kernel.Geometry) *packed {
	var meta panelsMeta
	if f.Meta(&meta) != nil {
		return &packed{}
	}
	return &packed{
		geometry: geometry,
		groups:   meta.Groups,
		exponent: meta.Exponent,
		ids:      mapped.Part[embeddings.WordID](f, "ids"),
		center:   mapped.Part[float64](f, "center"),
		heads:    mapped.Part[float32](f, "heads"),
		bounds:   mapped.Part[float32](f, "bounds"),
		bytes:    mapped.Part[byte](f, "bytes"),
	}
}

// fits reports whether panels have the shape of those of a space.
func (p *packed) fits(s *embeddings.Space) bool {
	width := p.geometry.PanelWords
	if width == 0 || p.groups != (s.Dimension+3)/4 {
		return false
	}
	panels := (s.Len() + width - 1) / width
	return len(p.ids) == panels*width &&
		len(p.heads) == panels*width &&
		len(p.bounds) == 4*panels &&
		len(p.bytes) == panels*p.panelBytes() &&
		len(p.center) == s.Dimension
}

// othersKind is that of files of what Others found.
const othersKind = "mldp nearest other words 1"

// OthersKept is Others for words that depend on the space alone, such as all of them: it keeps them with what it
// finds beside the file of the space, where others can read them, and takes that the next time. Files are told apart
// by the number of words: those of other words replace one another. Words of a text must not be given to it.
func (x *Index) OthersKept(words []embeddings.WordID) []Neighbor {
	if x.space.File() == "" {
		return x.Others(words)
	}
	path := fmt.Sprintf("%s.%d.others", x.space.File(), len(words))
	f, err := mapped.Open(path, othersKind)
	if err == nil && f.Key == x.space.Fingerprint() && slices.Equal(mapped.Part[embeddings.WordID](f, "words"), words) {
		ids := mapped.Part[embeddings.WordID](f, "others")
		if len(ids) == len(words) {
			return x.measured(words, ids)
		}
	}
	others := x.Others(words)
	ids := make([]embeddings.WordID, len(others))
	for i, n := range others {
		ids[i] = n.ID
	}
	_, _ = mapped.Write(path, othersKind, func(w *mapped.Writer) error { // else found again
		w.Key = x.space.Fingerprint()
		w.Begin("words")
		mapped.Append(w, words)
		w.Begin("others")
		mapped.Append(w, ids)
		return w.Err()
	})
	return others
}

// measured are neighbours of words, with their distances.
func (x *Index) measured(words, ids []embeddings.WordID) []Neighbor {
	found := make([]Neighbor, len(words))
	for i, id := range ids {
		found[i] = Neighbor{ID: id, Distance: math.Inf(1)}
		if id != embeddings.Unknown {
			found[i].Distance = x.space.Distance(words[i], id)
		}
	}
	return found
}
