package capture

import "io"

const (
	blockSize = 256 << 10 // bytes handed over at once
	blocks    = 4         // how far the pump may be ahead of the reader
)

// pump reads a source in a goroutine of its own, so that decompression runs
// beside the reader. It holds at most blocks*blockSize bytes.
type pump struct {
	full chan block  // read and not handed out
	free chan []byte // buffers to read into
	stop chan struct{}
	buf  []byte // what rest is part of
	rest block  // what is left of the block being handed out
}

// block is what one read of the source gave.
type block struct {
	data []byte
	err  error
}

// startPump reads src until it ends or close is called.
func startPump(src io.Reader) *pump {
	p := &pump{
		full: make(chan block, blocks),
		free: make(chan []byte, blocks),
		stop: make(chan struct{}),
	}
	for range blocks {
		p.free <- make([]byte, blockSize)
	}
	go p.run(src)
	return p
}

func (p *pump) run(src io.Reader) {
	defer close(p.full)
	for {
		select {
		case <-p.stop:
			return
		case buf := <-p.free:
			n, err := src.Read(buf)
			p.full <- block{buf[:n], err} // has room for every buffer there is
			if err != nil {
				return
			}
		}
	}
}

// Read hands out what the goroutine has read.
func (p *pump) Read(b []byte) (int, error) {
	if len(p.rest.data) == 0 {
		if p.rest.err != nil {
			return 0, p.rest.err
		}
		if p.buf != nil {
			p.free <- p.buf
		}
		p.rest = <-p.full
		p.buf = p.rest.data[:cap(p.rest.data)]
	}
	n := copy(b, p.rest.data)
	p.rest.data = p.rest.data[n:]
	if len(p.rest.data) > 0 {
		return n, nil
	}
	return n, p.rest.err
}

// close tells the goroutine to stop; Read must not be called any more.
func (p *pump) close() { close(p.stop) }

// wait returns when the goroutine has ended, which takes until its read of the
// source returns.
func (p *pump) wait() {
	for range p.full {
	}
}
