package capture

import (
	"io"
	"time"
)

const (
	blockSize = 256 << 10 // bytes handed over at once
	blocks    = 4         // how far the pump may be ahead of the reader

	// lastWords is how long reading goes on after Source.Stop: the keys that
	// stop a reader stop a capture program before it too, which then writes
	// what it held back.
	lastWords = time.Second
)

// pump reads a source in a goroutine of its own, so that decompression runs
// beside the reader. It holds at most blocks*blockSize bytes.
type pump struct {
	full chan block  // read and not handed out
	free chan []byte // buffers to read into
	stop chan struct{}
	buf  []byte // what rest is part of
	rest block  // what is left of the block being handed out

	source Source
	over   <-chan time.Time // says that lastWords are over; nil while nobody stopped
}

// block is what one read of the source gave.
type block struct {
	data []byte
	err  error
}

// startPump reads src until it ends or close is called.
func startPump(src io.Reader, s Source) *pump {
	p := &pump{
		full: make(chan block, blocks),
		free: make(chan []byte, blocks),
		stop: make(chan struct{}),

		source: s,
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
			p.buf = nil
		}
		next, err := p.next()
		if err != nil {
			return 0, err
		}
		p.rest = next
		p.buf = p.rest.data[:cap(p.rest.data)]
	}
	n := copy(b, p.rest.data)
	p.rest.data = p.rest.data[n:]
	if len(p.rest.data) > 0 {
		return n, nil
	}
	return n, p.rest.err
}

// next waits for the next block, after telling so.
func (p *pump) next() (block, error) {
	select {
	case <-p.over:
		return block{}, ErrStopped
	case <-p.stopped():
		p.over = time.After(lastWords)
	default:
	}
	select {
	case next := <-p.full:
		return next, nil
	default:
	}
	if p.source.Waiting != nil {
		p.source.Waiting()
	}
	for {
		select {
		case next := <-p.full:
			return next, nil
		case <-p.stopped():
			p.over = time.After(lastWords)
		case <-p.over:
			return block{}, ErrStopped
		}
	}
}

// stopped is Source.Stop until it has been heard.
func (p *pump) stopped() <-chan struct{} {
	if p.over != nil {
		return nil
	}
	return p.source.Stop
}

// close tells the goroutine to stop; Read must not be called any more.
func (p *pump) close() { close(p.stop) }

// wait returns when the goroutine has ended, which takes until its read of the
// source returns.
func (p *pump) wait() {
	for range p.full {
	}
}
