package mechanisms

import (
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// There is a constructor for every mechanism, in its default variant.
func TestConstructors(t *testing.T) {
	s := spacetest.Gaussian(t, 8, 6, 1, 20)
	documents := [][]string{{"w1", "w2", "w1"}}
	seed := stream.FromUint64(1)
	built := map[string]func() (Mechanism, error){
		"cmp":          func() (Mechanism, error) { return NewCMP(s, 3) },
		"mahalanobis":  func() (Mechanism, error) { return NewMahalanobis(s, 3, 0.2) },
		"vickrey":      func() (Mechanism, error) { return NewVickrey(s, 3, 0.5) },
		"vickrey-k":    func() (Mechanism, error) { return NewVickreyK(s, 3, []float64{1, 1}) },
		"kth":          func() (Mechanism, error) { return NewKth(s, 3, 2) },
		"rank-fix":     func() (Mechanism, error) { return NewRankFix(s, 3, 0.04) },
		"santext":      func() (Mechanism, error) { return NewSanText(s, 3) },
		"santext-plus": func() (Mechanism, error) { return NewSanTextPlus(s, documents, 3, 0.5, 0.2) },
		"tem":          func() (Mechanism, error) { return NewTEM(s, 3) },
		"gumbel":       func() (Mechanism, error) { return NewGumbel(s, 1e4) },
		"syntf":        func() (Mechanism, error) { return NewSynTF(s, wordList{}, 3) },
		"custext":      func() (Mechanism, error) { return NewCusText(s, documents, 3, 4) },
		"diffractor":   func() (Mechanism, error) { return NewDiffractor(s, 3, 2, seed) },
		"k-rr":         func() (Mechanism, error) { return NewKRR(s, 3) },
		"rantext":      func() (Mechanism, error) { return NewRANTEXT(s, 3) },
		"wbb":          func() (Mechanism, error) { return NewWBB(s, 2, 3) },
		"trlaplace":    func() (Mechanism, error) { return NewTrLaplace(s, 0.3) },
		"identity":     func() (Mechanism, error) { return NewIdentity(s) },
		"uniform":      func() (Mechanism, error) { return NewUniform(s) },
		"delete":       func() (Mechanism, error) { return NewDelete(s) },
	}
	for _, d := range Definitions() {
		if d.NewVector != nil {
			continue
		}
		build, ok := built[d.Name]
		if !ok {
			t.Errorf("%s has no constructor", d.Name)
			continue
		}
		m, err := build()
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		if got := m.Settings(); got.Mechanism != d.Name || got.Variant != d.Variants[0] {
			t.Errorf("%s: built %s %s", d.Name, got.Mechanism, got.Variant)
		}
	}
	if m, err := NewPrivEmb(s, 3, 0.9, seed); err != nil || m.Settings().Mechanism != "privemb" {
		t.Errorf("privemb: %v", err)
	}
	if _, err := NewCMP(s, -1); err == nil {
		t.Error("ε = -1 is accepted")
	}
	if _, err := NewCMP(nil, 1); err == nil {
		t.Error("no space is accepted")
	}
}

// Every mechanism has a different place in figures.
func TestOrder(t *testing.T) {
	taken := map[int]string{}
	for _, d := range Definitions() {
		if d.Order == 0 || taken[d.Order] != "" {
			t.Errorf("%s: order %d is that of %q", d.Name, d.Order, taken[d.Order])
		}
		taken[d.Order] = d.Name
	}
	all := Ordered()
	if all[0].Name != "cmp" || all[len(all)-1].Name != "delete" {
		t.Errorf("from %s to %s", all[0].Name, all[len(all)-1].Name)
	}
}
