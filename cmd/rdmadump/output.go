package main

import (
	"io"

	"github.com/rdmadump/rdmadump/internal/cli"
)

// output collects what is printed, so that a packet does not cost a write.
type output struct {
	w    io.Writer
	b    []byte
	live bool  // somebody is watching: write every packet at once
	err  error // the first that writing met with
}

// outputSize is what is collected before it is written.
const outputSize = 64 << 10

func newOutput(w io.Writer) *output {
	_, tty := cli.Terminal(w)
	return &output{w: w, b: make([]byte, 0, outputSize+outputSize/4), live: tty}
}

// packet is called behind each packet.
func (o *output) packet() error {
	if o.live || len(o.b) >= outputSize || o.err != nil {
		return o.flush()
	}
	return nil
}

// flush writes what was collected.
func (o *output) flush() error {
	if o.err == nil && len(o.b) > 0 {
		_, err := o.w.Write(o.b)
		o.err = cli.WriteError(err)
	}
	o.b = o.b[:0]
	return o.err
}
