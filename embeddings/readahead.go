package embeddings

import (
	"context"
	"crypto/sha256"
	"hash"
	"io"
	"sync"
)

// readAhead reads a file on a goroutine of its own, which also computes the digest of it, while
// what was read before is parsed.
type readAhead struct {
	digest hash.Hash // SHA-256 of all that was read; complete when Read has returned an error
	read   chan piece
	free   chan []byte // to be read into
	now    piece
	used   []byte // the memory of now
	stop   func()
}

// piece is what was read at once, with the error after it.
type piece struct {
	data []byte
	err  error
}

const (
	pieceLength = 1 << 20
	piecesAhead = 4
)

// newReadAhead begins to read; stop must be called.
func newReadAhead(r io.Reader) *readAhead {
	a := &readAhead{
		digest: sha256.New(),
		read:   make(chan piece, piecesAhead),
		free:   make(chan []byte, piecesAhead),
	}
	for range piecesAhead {
		a.free <- make([]byte, pieceLength)
	}
	stopped := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { a.run(r, stopped) })
	a.stop = sync.OnceFunc(func() {
		close(stopped)
		running.Wait()
	})
	return a
}

// run reads until an error, or until it is stopped.
func (a *readAhead) run(r io.Reader, stopped <-chan struct{}) {
	for {
		var buffer []byte
		select {
		case buffer = <-a.free:
		case <-stopped:
			return
		}
		n, err := io.ReadFull(r, buffer)
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		a.digest.Write(buffer[:n])
		a.read <- piece{buffer[:n], err} // has room for all buffers
		if err != nil {
			return
		}
	}
}

// Read implements io.Reader.
func (a *readAhead) Read(p []byte) (int, error) {
	for len(a.now.data) == 0 {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.used != nil {
			a.free <- a.used[:cap(a.used)]
		}
		a.now = <-a.read
		a.used = a.now.data
	}
	n := copy(p, a.now.data)
	a.now.data = a.now.data[n:]
	return n, nil
}

// readerOf is a reader that ends with its context.
func readerOf(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	err := r.ctx.Err()
	if err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
