package stream

import "testing"

func TestDeriveSeparatesLabels(t *testing.T) {
	s := FromUint64(1)
	random, err := Cryptographic()
	again, err2 := Cryptographic()
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	seen := map[Seed]string{}
	for name, d := range map[string]Seed{
		"root": s, "ab,c": s.Derive("ab", "c"), "a,bc": s.Derive("a", "bc"), "abc": s.Derive("abc"),
		"at0": s.At(0), "at1": s.At(1), "none": s.Derive(), "random": random, "random again": again,
	} {
		if other, dup := seen[d]; dup {
			t.Errorf("%s and %s share a stream", name, other)
		}
		seen[d] = name
	}
}

func TestStreamsRepeat(t *testing.T) {
	a, b := FromUint64(7).Derive("x").At(3).Rand(), FromUint64(7).Derive("x").At(3).Rand()
	for range 100 {
		if a.Uint64() != b.Uint64() {
			t.Fatal("equal paths gave different streams")
		}
	}
}
