package external

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// linger is how long a socket is there while nobody is connected to it.
const linger = 5 * time.Second

// Served is what ServeSocket serves.
type Served struct {
	Hello  Hello
	Handle Handler         // is called by several goroutines
	Said   func(err error) // is told why a connection was ended that its program did not end
}

// ServeSocket is Serve for any number of programs, each with a connection of its own to a socket. The
// socket is made at path for this user alone; that it is there is told by the hello, written to out. It
// ends when nobody has been connected for linger.
func ServeSocket(ctx context.Context, path string, out io.Writer, s Served) error {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	defer listener.Close()
	err = os.Chmod(path, 0o600)
	if err != nil {
		return err
	}
	err = writeHello(out, s.Hello)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	open := &connections{idle: time.AfterFunc(linger, func() { listener.Close() })}
	for {
		c, err := listener.Accept()
		if err != nil { // it was closed, or takes nobody any more
			listener.Close()
			open.all.Wait()
			return ctx.Err()
		}
		open.serve(ctx, c, s)
	}
}

// connections counts those that are open; idle ends the wait for others.
type connections struct {
	mu    sync.Mutex
	count int
	idle  *time.Timer
	all   sync.WaitGroup
}

// serve answers the requests of a connection until its program closes it.
func (o *connections) serve(ctx context.Context, c net.Conn, s Served) {
	o.change(1)
	o.all.Go(func() {
		defer o.change(-1)
		defer c.Close()
		stop := context.AfterFunc(ctx, func() { c.Close() })
		defer stop()
		err := Serve(ctx, c, c, s.Hello, s.Handle)
		if err != nil && ctx.Err() == nil && !errors.As(err, new(*net.OpError)) { // not one that has just gone
			s.Said(err)
		}
	})
}

func (o *connections) change(by int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count += by
	if o.count == 0 {
		o.idle.Reset(linger)
	} else {
		o.idle.Stop()
	}
}
