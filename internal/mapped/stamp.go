package mapped

import (
	"encoding/json"
	"os"
	"time"

	"mldpbench/internal/atomicfile"
)

// Identity tells the states of files apart without reading them, as git's index does. The zero
// Identity is that of no file.
type Identity struct {
	Device   uint64
	Inode    uint64
	Size     int64
	Modified int64 // ns since 1970
	Changed  int64 // time of the state: also renamed, given another owner or time
}

// sameContent reports whether a file has at most been renamed.
func (i Identity) sameContent(other Identity) bool {
	other.Changed = i.Changed
	return i == other && i != Identity{}
}

// Stamp says that a file was read and checked.
type Stamp struct {
	Identity Identity
	When     int64 // ns since 1970, before it was written
}

// racy is how long before a stamp a file must have been left alone: a later change may have
// the same times where they are coarse.
const racy = 2 * time.Second

const stampSuffix = ".stamp"

// Vouches reports whether a file is, in all likelihood, still as it was when it was stamped.
func (s Stamp) Vouches(i Identity) bool {
	last := s.When - int64(racy)
	return i != Identity{} && i == s.Identity && i.Modified < last && i.Changed < last
}

// stampOf reads the stamp of a file, the zero Stamp where there is none.
func stampOf(path string) Stamp {
	var s Stamp
	data, err := os.ReadFile(path + stampSuffix)
	if err != nil || json.Unmarshal(data, &s) != nil {
		return Stamp{}
	}
	return s
}

// NewStamp is the stamp of a file that was read by now.
func NewStamp(of Identity) Stamp { return Stamp{Identity: of, When: time.Now().UnixNano()} }

// write writes the stamp of a file. Without it the file is read again next time.
func (s Stamp) write(path string) {
	data, err := json.Marshal(s)
	if err == nil && s.Identity != (Identity{}) {
		_ = atomicfile.WriteMany(path+stampSuffix, 0o644, data)
	}
}
