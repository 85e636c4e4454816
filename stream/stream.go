// Package stream derives independent random streams from a study seed and a
// path of labels.
//
// Randomness depends only on what is computed (study, cell, repetition,
// document), never on where or when: a worker, the clock or a global source
// cannot change a result. Equal (seed, path) give equal streams on every
// platform; different paths give streams that are independent for every
// practical purpose (ChaCha8 keyed by a SHA-256 digest).
package stream

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Seed is the root of all streams of a study.
type Seed [32]byte

// FromUint64 returns the root seed for the number in a study file.
func FromUint64(n uint64) Seed {
	var s Seed
	binary.LittleEndian.PutUint64(s[:], n)
	return s
}

// Cryptographic draws a root seed from the operating system, for privatising
// text outside a study. It cannot be reproduced.
func Cryptographic() (Seed, error) {
	var s Seed
	_, err := crand.Read(s[:])
	return s, err
}

// Derive returns the seed found by following the labels from s. Labels are
// length-prefixed, so ("ab","c") and ("a","bc") differ.
func (s Seed) Derive(labels ...string) Seed {
	h := sha256.New()
	h.Write(s[:])
	var n [8]byte
	for _, l := range labels {
		binary.LittleEndian.PutUint64(n[:], uint64(len(l)))
		h.Write(n[:])
		h.Write([]byte(l))
	}
	var out Seed
	h.Sum(out[:0])
	return out
}

// At returns the seed of the i-th member of a numbered family, for example
// the i-th document of a cell. It is one hash compression, cheap enough to be
// called per document.
func (s Seed) At(i uint64) Seed {
	var b [41]byte
	copy(b[:], s[:])
	b[32] = '#' // keeps At apart from Derive
	binary.LittleEndian.PutUint64(b[33:], i)
	return sha256.Sum256(b[:])
}

// Rand returns a generator positioned at the start of the stream of s.
func (s Seed) Rand() *rand.Rand { return rand.New(rand.NewChaCha8(s)) }
