//go:build unix

package mapped

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps all of a file; where the file system cannot, it reads it.
func mapFile(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return nil, nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return readAll(f)
	}
	return data, nil
}

// unmap ends a mapping. Memory that was read instead is left to the garbage collector.
func unmap(data []byte) { _ = unix.Munmap(data) }

// IdentityOf identifies the state of an open file; the zero Identity if it cannot.
func IdentityOf(f *os.File) Identity {
	var s unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &s)
	if err != nil {
		return Identity{}
	}
	return Identity{
		Device:   uint64(s.Dev),
		Inode:    uint64(s.Ino),
		Size:     s.Size,
		Modified: s.Mtim.Nano(),
		Changed:  s.Ctim.Nano(),
	}
}
