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
	src  io.Reader
	buf  []byte
	rest []byte // the part of buf that has been read and not been passed
	read int64  // bytes read so far, which rest ends with
	err  error  // why src gives no more, io.EOF at its end
}

// offset is the position of the window's start in the input.
func (w *window) offset() int64 { return w.read - int64(len(w.rest)) }

// ended tells whether the input came to its end, as opposed to a fault.
func (w *window) ended() bool { return w.err == io.EOF }

// peek returns the next n bytes without passing them; fewer only where the
// input ends, and then w.err says why.
func (w *window) peek(n int) []byte {
	if len(w.rest) >= n {
		return w.rest[:n]
	}
	return w.fill(n)
}

// pass passes n bytes that peek has returned.
func (w *window) pass(n int) { w.rest = w.rest[n:] }

// fill is peek where bytes have to be read.
func (w *window) fill(n int) []byte {
	w.rest = w.buf[:copy(w.buf, w.rest)]
	for len(w.rest) < n && w.err == nil {
		if len(w.rest) == len(w.buf) {
			w.grow()
		}
		w.more()
	}
	return w.rest[:min(n, len(w.rest))]
}

// grow doubles the buffer, which is full: so its size follows what arrived, not
// what the file promises.
func (w *window) grow() {
	buf := make([]byte, max(2*len(w.buf), windowSize))
	w.rest = buf[:copy(buf, w.rest)]
	w.buf = buf
}

// more reads once, or more often where src gives neither bytes nor an error.
func (w *window) more() {
	for range 100 {
		had := len(w.rest)
		n, err := w.src.Read(w.buf[had:])
		w.rest = w.buf[:had+n]
		w.read += int64(n)
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
		step := min(left, int64(len(w.rest)))
		w.pass(int(step))
		left -= step
		if left == 0 || len(w.fill(1)) == 0 {
			return n - left
		}
	}
}
