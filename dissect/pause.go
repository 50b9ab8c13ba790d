package dissect

// MAC control opcodes of flow control (IEEE 802.3 annexes 31B and 31D).
const (
	macPause = 0x0001 // 802.3x: the whole link
	macPFC   = 0x0101 // priority flow control, 802.1Qbb
)

// flowControl counts what asks a link to pause.
type flowControl struct {
	frames     int64
	priorities [8]int64

	last     [64]byte // the frame before
	lastTime int64
}

// again reports whether a frame is the one before it once more, as where a capture
// is given twice: no port sends two at the same time. A little later it may be
// another one, for all are alike.
func (c *flowControl) again(f *Frame) bool {
	var now [64]byte
	copy(now[:], f.Data)
	same := f.Time == c.lastTime && f.Time != 0 && now == c.last
	c.last, c.lastTime = now, f.Time
	return same
}

// follow counts a MAC control frame, from its opcode on. Only one that pauses
// counts: a time of zero lets the sender go on.
//
// 802.3x: opcode 16, time 16. PFC: opcode 16, a bit for each priority in the
// lower half of 16, then 8 times of 16.
func (c *flowControl) follow(b []byte) {
	if len(b) < 4 {
		return
	}
	switch be.Uint16(b) {
	case macPause:
		if be.Uint16(b[2:]) > 0 {
			c.frames++
		}
	case macPFC:
		for i := range c.priorities {
			if b[3]>>i&1 != 0 && len(b) >= 6+2*i && be.Uint16(b[4+2*i:]) > 0 {
				c.priorities[i]++
			}
		}
	}
}
