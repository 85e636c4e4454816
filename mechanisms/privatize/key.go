package privatize

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"mldpbench/internal/check"
	"mldpbench/stream"
)

// Key is the secret of a data holder, from which the noise of texts is drawn, so that the same text of the same record
// comes out the same whoever privatises it, where, and in which order; see Stream.Keyed. Who has it can undo the
// protection, as with a seed.
type Key struct{ secret []byte }

const (
	keyBytes     = 32       // of a new key
	shortestKey  = 16       // bytes
	longestKey   = 64 << 10 // bytes: a longer file is none
	keyedVersion = "mldp keyed noise 1"
)

// CreateKey writes 256 random bits to a new file that its owner alone can read. A file that is there is never replaced:
// texts of an earlier release could not be repeated.
func CreateKey(path string) error {
	secret := make([]byte, keyBytes)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return check.Wrong("%s is there already: a key is never replaced", path)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(secret)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// ReadKey reads a key, which is all bytes of a file.
func ReadKey(path string) (*Key, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, check.Wrong("%s: is a folder, no key", path)
	case info.Size() > longestKey:
		return nil, check.Wrong("%s: has %d bytes: this is no key; mldp key makes one", path, info.Size())
	}
	secret, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(secret) < shortestKey {
		return nil, check.Wrong("%s: has %d bytes, a key at least %d: mldp key makes one", path, len(secret),
			shortestKey)
	}
	return &Key{secret}, nil
}

// Name is a fingerprint of 16 hexadecimal digits, which tells nothing about the key but whether it is the same.
func (k *Key) Name() string {
	name := k.derive("mldp key name 1")
	return hex.EncodeToString(name[:8])
}

// Root is the seed of all that is random about a release beside the texts, such as what a mechanism builds at random.
func (k *Key) Root(release string) stream.Seed { return k.derive("mldp key root 1", release) }

// derive is HMAC-SHA256 of the labels, each after its length in 8 bytes, the lowest first.
func (k *Key) derive(labels ...string) stream.Seed {
	mac := hmac.New(sha256.New, k.secret)
	var length [8]byte
	for _, label := range labels {
		binary.LittleEndian.PutUint64(length[:], uint64(len(label)))
		mac.Write(length[:])
		mac.Write([]byte(label))
	}
	var out stream.Seed
	mac.Sum(out[:0])
	return out
}

// Keyed returns the stream that all random choices about a text are drawn from where there is a Key:
//
//	HMAC-SHA256(key; p("mldp keyed noise 1") ‖ p(name of the release) ‖ p(mechanism) ‖ p(variant) ‖ p(parameters)
//	              ‖ p(unit) ‖ p(ε) ‖ p(vectors) ‖ p(program) ‖ p(length) ‖ p(kept word) ‖ …
//	              ‖ p(column) ‖ p(id) ‖ p(SHA-256(text)))
//
// with p and the names of Noise. So neither order, partition, retry, number of workers nor machine matter. The same
// text under the same id comes out the same. An edited text is drawn anew, which makes two releases of ε each of what
// both versions share; equal noise would show the edit. Another name of the release is another draw. The id stands in
// for the record: by the text alone, equal texts would show.
func (s *Stream) Keyed(column, id, text string) stream.Seed {
	sum := sha256.Sum256([]byte(text))
	labels := make([]string, 0, len(s.settings)+5)
	labels = append(labels, keyedVersion, s.options.Release)
	labels = append(labels, s.settings...)
	labels = append(labels, column, id, string(sum[:]))
	return s.options.Key.derive(labels...)
}

// KeyedSeeds are the seeds of Keyed of texts of one column, whose ids tell them apart.
func (s *Stream) KeyedSeeds(column string, ids, texts []string) ([]stream.Seed, error) {
	seeds := make([]stream.Seed, len(texts))
	for i, id := range ids {
		if err := s.ids.add(id); err != nil {
			return nil, fmt.Errorf("ids[%d]: %w", i, err)
		}
		seeds[i] = s.Keyed(column, id, texts[i])
	}
	return seeds, nil
}

// ids are the ids of the records of a run, of which none comes twice. Of each 16 bytes of a hash are kept: two of a
// thousand million records have the same by accident with a probability below 10⁻²⁰.
type ids map[[16]byte]struct{}

// add returns an error for an id that names no record alone.
func (seen ids) add(id string) error {
	if id == "" {
		return check.Wrong("the id is empty: each record needs its own")
	}
	sum := sha256.Sum256([]byte(id))
	short := [16]byte(sum[:])
	if _, again := seen[short]; again {
		return check.Wrong("id %.40q is that of an earlier record, too: each needs its own", id)
	}
	seen[short] = struct{}{}
	return nil
}
