package main

import (
	"bytes"
	"fmt"
	"io"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/rdmadump/rdmadump/internal/cli"
)

const (
	// outletSize is how much output may wait for a reader that is slower than
	// the network.
	outletSize = 32 << 20

	// outletGrace is how long the end waits for a reader that takes nothing,
	// such as a terminal that was stopped.
	outletGrace = 2 * time.Second
)

// outlet writes in a goroutine of its own, so that a slow terminal or pipe does
// not keep a live capture from emptying its ring. What finds no room is left
// out, by whole writes, and counted.
type outlet struct {
	w io.Writer

	mutex   sync.Mutex
	changed *sync.Cond
	queue   []byte
	spare   []byte // the other buffer, between writes
	omitted int    // lines
	err     error
	closed  bool
	done    chan struct{}
	broken  chan struct{} // closed once writing failed
	beat    chan struct{} // has something when a write came back
}

func newOutlet(w io.Writer) *outlet {
	o := &outlet{w: w, done: make(chan struct{}), broken: make(chan struct{}), beat: make(chan struct{}, 1)}
	o.changed = sync.NewCond(&o.mutex)
	// A pipe that nobody reads any more is an error to end by, with captures that
	// are being written complete.
	signal.Ignore(syscall.SIGPIPE)
	go o.run()
	return o
}

// Write queues whole lines. The error is of what was written before.
func (o *outlet) Write(b []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	switch {
	case o.err != nil:
		return 0, o.err
	case len(o.queue)+len(b) > outletSize:
		o.omitted += bytes.Count(b, []byte{'\n'})
	default:
		o.queue = append(o.queue, b...)
		o.changed.Signal()
	}
	return len(b), nil
}

func (o *outlet) run() {
	defer close(o.done)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for {
		for len(o.queue) == 0 && !o.closed {
			o.changed.Wait()
		}
		if len(o.queue) == 0 || o.err != nil {
			return
		}
		full := o.queue
		o.queue = o.spare[:0]
		o.mutex.Unlock()
		var err error
		for b := full; len(b) > 0 && err == nil; { // in pieces, to see that it moves
			piece := b[:min(len(b), outputSize)]
			_, err = o.w.Write(piece)
			b = b[len(piece):]
			select {
			case o.beat <- struct{}{}:
			default:
			}
		}
		o.mutex.Lock()
		o.spare = full[:0]
		if err != nil && o.err == nil {
			o.err = err
			close(o.broken)
		}
	}
}

// close waits until all is written, as long as the reader takes something. The
// error says what writing met, or what was left out.
func (o *outlet) close() error {
	o.mutex.Lock()
	o.closed = true
	o.changed.Signal()
	o.mutex.Unlock()
	for {
		select {
		case <-o.done:
			if o.err != nil {
				return cli.WriteError(o.err)
			}
			return o.short()
		case <-o.beat:
		case <-time.After(outletGrace):
			o.mutex.Lock()
			defer o.mutex.Unlock()
			o.omitted += bytes.Count(o.queue, []byte{'\n'})
			return o.short()
		}
	}
}

// short says that lines were left out, nil if none were.
func (o *outlet) short() error {
	if o.omitted == 0 {
		return nil
	}
	return fmt.Errorf("standard output was read too slowly: %d lines were left out", o.omitted)
}
