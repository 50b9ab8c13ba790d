package capture

import "io"

const (
	// windowSize holds some hundred full packets, so that refilling costs
	// little per packet, and still fits the second-level cache.
	windowSize = 256 << 10

	// maxRecord bounds a packet with its record, and with it the window. Tools
	// that capture from networks stop at 256 KiB (MAXIMUM_SNAPLEN of libpcap,
	// WTAP_MAX_PACKET_SIZE_STANDARD of Wireshark); 16 MiB leaves room for what
	// is larger, and a lie below it costs no more memory than bytes are there.
	maxRecord = 16 << 20
)

// window is the part of the input that the reader looks at. Bytes stay where
// they are, and slices of them good, until peek or skip has to read on.
type window struct {
	src    io.Reader
	buf    []byte
	lo, hi int   // buf[lo:hi] has been read and not been passed
	base   int64 // position of buf[0] in the input
	err    error // why src gives no more, io.EOF at its end
}

// offset is the position of the window's start in the input.
func (w *window) offset() int64 { return w.base + int64(w.lo) }

// ended tells whether the input came to its end, as opposed to a fault.
func (w *window) ended() bool { return w.err == io.EOF }

// peek returns the next n bytes without passing them; fewer only where the
// input ends, and then w.err says why.
func (w *window) peek(n int) []byte {
	if w.hi-w.lo >= n {
		return w.buf[w.lo : w.lo+n : w.lo+n]
	}
	return w.fill(n)
}

// fill is peek where bytes have to be read.
func (w *window) fill(n int) []byte {
	if w.lo > 0 {
		copy(w.buf, w.buf[w.lo:w.hi])
		w.base += int64(w.lo)
		w.lo, w.hi = 0, w.hi-w.lo
	}
	for w.hi < n && w.err == nil {
		if w.hi == len(w.buf) {
			w.grow()
		}
		w.read()
	}
	n = min(n, w.hi)
	return w.buf[:n:n]
}

// grow doubles the buffer, which is full: so its size follows what arrived, not
// what the file promises.
func (w *window) grow() {
	buf := make([]byte, max(2*len(w.buf), windowSize))
	copy(buf, w.buf[:w.hi])
	w.buf = buf
}

// read reads once, or more often where src gives neither bytes nor an error.
func (w *window) read() {
	for range 100 {
		n, err := w.src.Read(w.buf[w.hi:])
		w.hi += n
		if err != nil {
			w.err = err
		}
		if n > 0 || err != nil {
			return
		}
	}
	w.err = io.ErrNoProgress
}

// skip passes n bytes, however many, and returns how many there were.
func (w *window) skip(n int64) int64 {
	for left := n; ; {
		step := min(left, int64(w.hi-w.lo))
		w.lo += int(step)
		left -= step
		if left == 0 || len(w.fill(1)) == 0 {
			return n - left
		}
	}
}
