package craft

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/frame"
)

var be = binary.BigEndian

// Builder makes frames, one after the other. The zero Builder is ready.
type Builder struct {
	Seed uint64 // of payload that is not given

	number int   // frames made so far
	time   int64 // of the last one
	data   []byte
}

const (
	firstTime = 1700000000e9 // of a frame, where none is given
	step      = 1000         // to the next one
	maxFrame  = 16 << 20     // that captures may have (see capture)
)

// Frame makes the frame that o describes. Its Data is good until the next call.
// The error is a *Fault.
func (b *Builder) Frame(o Object, f *dissect.Frame) error {
	m, err := b.plan(o)
	if err != nil {
		return err
	}
	if err := m.build(b.data[:0]); err != nil {
		return err
	}
	b.data = m.b
	time := int64(firstTime)
	if b.number > 0 {
		time = b.time + step
	}
	if time, err = o.moment("time", time); err != nil {
		return err
	}
	if err := m.measure(f); err != nil {
		return err
	}
	b.number++
	b.time = time
	f.Time, f.Number = time, b.number
	return nil
}

// making is a frame that is being made.
type making struct {
	Object
	complete bool // the line tells every byte: nothing is added to it
	carrier  codec.Carrier
	link     dissect.LinkType
	op       codec.Opcode
	headers  codec.HeaderSet
	short    bool // the T/C AETH has 27 bytes
	payload  []byte
	pad      []byte

	b        []byte // the frame
	covered  int    // where in it the coverage of the ICRC begins,
	lrh      int    // the LRH,
	bth      int    // and the BTH
	checksum bool   // UDP's is to be computed once the ICRC is known
}

// plan finds out what the frame is made of.
func (b *Builder) plan(o Object) (*making, error) {
	m := &making{Object: o, complete: o.has("icrc_bytes")}
	for _, find := range []func() error{m.findCarrier, m.findLink, m.findHeaders, func() error { return m.findPayload(b) }, m.findPad} {
		if err := find(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// random are bytes that the seed and the number of the frame decide.
func (b *Builder) random(n int) []byte {
	r := rand.NewPCG(b.Seed, uint64(b.number))
	bytes := make([]byte, 0, n+8)
	for len(bytes) < n {
		bytes = binary.LittleEndian.AppendUint64(bytes, r.Uint64())
	}
	return bytes[:n]
}

// build makes all of the frame.
func (m *making) build(b []byte) error {
	inner, err := m.appendHeaders(nil)
	if err != nil {
		return err
	}
	inner = append(append(inner, m.payload...), m.pad...)
	icrc, err := m.icrc()
	if err != nil {
		return err
	}
	if m.b, err = m.appendOuter(b, len(inner)+icrc.len()); err != nil {
		return err
	}
	m.bth = len(m.b)
	m.b = append(m.b, inner...)
	if err := m.seal(icrc); err != nil {
		return err
	}
	trailer, err := m.bytes("trailer")
	m.b = append(m.b, trailer...)
	return err
}

// measure cuts the frame, and says how long it was.
func (m *making) measure(f *dissect.Frame) error {
	if len(m.b) > maxFrame {
		return fault("", "the frame has %d bytes: want at most %d", len(m.b), maxFrame)
	}
	captured, err := m.length("caplen", len(m.b), len(m.b))
	if err != nil {
		return err
	}
	wire, err := m.length("wirelen", math.MaxUint32, max(len(m.b), captured))
	if err != nil {
		return err
	}
	if wire < captured {
		return fault("wirelen", "%d: want at least the %d bytes that are captured", wire, captured)
	}
	f.Data, f.WireLen, f.Link = m.b[:captured], wire, m.link
	return nil
}

// seal appends the ICRC, and fills in what depends on it.
func (m *making) seal(i icrc) error {
	if i.how == right || i.how == wrong {
		sum, err := codec.ICRC(m.carrier, m.b[m.covered:], m.bth-m.covered)
		if err != nil {
			return fault("icrc", "there is none for such headers: want none, or 8 hexadecimal digits")
		}
		if i.how == wrong {
			sum = ^sum
		}
		i.bytes = codec.AppendICRC(nil, sum)
	}
	m.b = append(m.b, i.bytes...)
	if m.checksum {
		udp := m.b[m.bth-8:]
		be.PutUint16(udp[6:], frame.UDPChecksum(m.b[m.covered+8:m.covered+24], m.b[m.covered+24:m.covered+40], udp))
	}
	if m.carrier >= codec.InfiniBand && !m.complete && !m.has("trailer") && i.how != none {
		m.b = be.AppendUint16(m.b, frame.VCRC(m.b[m.lrh:]))
	}
	return nil
}

// icrc is what stands in place of the ICRC.
type icrc struct {
	how   sealing
	bytes []byte // as given
}

type sealing uint8

const (
	right sealing = iota
	wrong
	none
	given
)

func (i icrc) len() int {
	switch i.how {
	case none:
		return 0
	case given:
		return len(i.bytes)
	}
	return crc32.Size
}

// icrc is what the keys ask for. What a capture had says more than what it was
// judged to be.
func (m *making) icrc() (icrc, error) {
	if m.complete {
		b, err := m.bytes("icrc_bytes")
		return icrc{given, b}, err
	}
	how, err := m.text("icrc", "good")
	if err != nil {
		return icrc{}, err
	}
	switch how {
	case "good", "absent": // of which the capture has nothing, though the wire had
		return icrc{how: right}, nil
	case "bad":
		return icrc{how: wrong}, nil
	case "none":
		return icrc{how: none}, nil
	}
	b, err := m.bytes("icrc")
	if err != nil || len(b) != crc32.Size {
		return icrc{}, fault("icrc", "%q: want good, bad, none, or 8 hexadecimal digits", clip(how))
	}
	return icrc{given, b}, nil
}
