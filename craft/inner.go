package craft

import (
	"net/netip"
	"strings"

	"github.com/rdmadump/rdmadump/codec"
)

// Defaults of fields of transport headers; of others it is zero. What depends on
// the packet is in usual.
var otherwise = map[string]map[string]uint64{
	"bth":       {"p_key": 0xffff, "destqp": 0x11},
	"deth":      {"srcqp": 0x22},
	"reth":      {"va": 0x10000, "r_key": 1},
	"atomiceth": {"va": 0x10000, "r_key": 1},
	"aeth":      {"syndrome": 0x1f}, // ACK, no credits
	"tcaeth":    {"segmentnum": 1},
}

// someBytes is the payload of a packet of which nothing is said: a whole packet
// at the smallest MTU.
const someBytes = 256

// findHeaders finds out which transport headers there are.
func (m *making) findHeaders() error {
	for _, h := range codec.Headers()[codec.HeaderBTH : codec.HeaderCNP+1] {
		if m.has(h.Key()) {
			m.headers |= codec.Set(h)
		}
	}
	length, err := m.number("tcaeth.length", 8, 30)
	if err != nil || length != 27 && length != 30 {
		return fault("tcaeth.length", "%s: want 30 or 27", shown(m.get("tcaeth.length")))
	}
	m.short = length == 27
	var found bool
	if m.op, found, err = m.opcode(); err != nil {
		return err
	}
	switch {
	case m.complete || m.has("error"): // what is not there was not there
	case !found:
		return fault("bth.opcode", "want an opcode, 0 to 255, or a name as opcode_name")
	default:
		m.headers |= m.op.Headers()
	}
	return nil
}

// opcode is what the BTH says, else what a name says.
func (m *making) opcode() (op codec.Opcode, found bool, err error) {
	if m.has("bth.opcode") {
		n, err := m.number("bth.opcode", 8, 0)
		return codec.Opcode(n), true, err
	}
	if !m.has("opcode_name") {
		return 0, false, nil
	}
	name, err := m.text("opcode_name", "")
	if err != nil {
		return 0, false, err
	}
	op, ok := Opcode(name)
	if !ok {
		return 0, false, fault("opcode_name", "%q: no such operation; there are %s", name, strings.Join(similar(name), ", "))
	}
	return op, true, nil
}

// Opcode finds an opcode by its name, "RC SEND Only" or rc-send-only.
func Opcode(name string) (codec.Opcode, bool) {
	name = plain(name)
	for i := range 256 {
		if plain(codec.Opcode(i).String()) == name {
			return codec.Opcode(i), true
		}
	}
	return 0, false
}

func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("-", " ", "_", " ").Replace(name))
}

// similar are the names of the same service, or of one packet of each.
func similar(name string) (names []string) {
	service, _, _ := strings.Cut(plain(name), " ")
	for i := range 256 {
		if o := codec.Opcode(i); o.Known() && strings.HasPrefix(plain(o.String()), service+" ") {
			names = append(names, o.String())
		}
	}
	if names == nil {
		names = []string{"RC SEND Only", "UC RDMA WRITE First", "UD SEND Only", "CNP", "IRN NACK", "MP-RDMA ACK", "and so on"}
	}
	return names
}

// findPayload takes the payload, makes it of management headers, or of the seed.
func (m *making) findPayload(b *Builder) (err error) {
	if m.payload, err = m.bytes("payload"); err != nil || m.has("payload") || m.complete {
		return err
	}
	usual := 0
	switch {
	case m.has("error"):
	case m.op.Verb() == codec.VerbAtomicWrite:
		usual = 8
	case m.has("mad"):
		usual = codec.MADLen
	case m.op.Payload() && m.op.Verb() != codec.VerbResync:
		usual = someBytes
	}
	n, err := m.length("payload_len", maxFrame, usual)
	if err != nil {
		return err
	}
	if m.has("mad") {
		m.payload, err = m.datagram(n)
		return err
	}
	m.payload = b.random(n)
	return nil
}

// datagram makes a management datagram of its headers, with zeros for the rest.
func (m *making) datagram(n int) (b []byte, err error) {
	for h := codec.HeaderMAD; h <= codec.HeaderRate; h++ {
		if m.has(h.Key()) {
			if b, err = m.appendHeader(b, h, nil); err != nil {
				return nil, err
			}
		}
	}
	return append(b, make([]byte, max(n-len(b), 0))...)[:n], nil
}

// findPad pads to whole words, unless it is told otherwise.
func (m *making) findPad() (err error) {
	if _, ok := m.get("pad").(string); ok {
		m.pad, err = m.bytes("pad")
		return err
	}
	length := m.headersLen() + len(m.payload)
	usual := uint64(-length & 3)
	if m.op == codec.OpcodeCNP || m.complete || m.has("error") {
		usual = 0
	}
	count, err := m.number("bth.padcnt", 2, usual)
	if err != nil {
		return err
	}
	if m.op == codec.OpcodeCNP || m.complete {
		count = 0
	}
	if count, err = m.number("pad", 8, count); err != nil {
		return fault("pad", "%s: want a number of bytes, or two hexadecimal digits a byte", shown(m.get("pad")))
	}
	m.pad = make([]byte, count)
	return nil
}

func (m *making) headersLen() int {
	n := m.headers.Len()
	if m.short && m.headers.Has(codec.HeaderTCAETH) {
		n -= 3
	}
	return n
}

// appendHeaders appends the transport headers.
func (m *making) appendHeaders(b []byte) (_ []byte, err error) {
	for h := codec.HeaderBTH; h <= codec.HeaderCNP; h++ {
		if !m.headers.Has(h) {
			continue
		}
		if b, err = m.appendHeader(b, h, m.usual(h)); err != nil {
			return b, err
		}
	}
	return b, nil
}

// usual are the defaults that depend on the packet.
func (m *making) usual(h codec.Header) map[string]uint64 {
	switch h {
	case codec.HeaderBTH:
		v := map[string]uint64{"opcode": uint64(m.op), "padcnt": uint64(len(m.pad)) & 3}
		if m.op == codec.OpcodeCNP {
			v["becn"] = 1
		}
		return v
	case codec.HeaderRETH:
		n := uint64(len(m.payload))
		if !m.op.Payload() {
			n = someBytes
		}
		return map[string]uint64{"dmalen": n}
	case codec.HeaderAETH:
		if m.op == codec.OpcodeIRNNack || m.op == codec.OpcodeIRNReadNack || m.op == codec.OpcodeMPRDMANack {
			return map[string]uint64{"syndrome": 0x60} // PSN sequence error
		}
	}
	return nil
}

// appendHeader appends a header by its rows in the field table.
func (m *making) appendHeader(b []byte, h codec.Header, usual map[string]uint64) ([]byte, error) {
	start := len(b)
	b = append(b, make([]byte, h.Len())...)
	raw := b[start:]
	for _, f := range h.Fields() {
		name := fieldKey(f)
		key := h.Key() + "." + name
		if h == codec.HeaderImmDt {
			key = h.Key()
		}
		switch {
		case f.Base == codec.GID:
			a, err := m.ip(key, netip.IPv6Unspecified())
			if err != nil {
				return b, err
			}
			gid := a.As16()
			copy(raw[f.Off/8:], gid[:])
			continue
		case f.Base == codec.Data:
			data, err := m.bytes(key)
			if err == nil && len(data) > f.Bits/8 {
				err = fault(key, "%d bytes: want at most %d", len(data), f.Bits/8)
			}
			if err != nil {
				return b, err
			}
			copy(raw[f.Off/8:], data)
			continue
		}
		v, ok := usual[name]
		if !ok {
			v = otherwise[h.Key()][name]
		}
		if v>>f.Bits != 0 {
			return b, fault(key, "%d: the frame is too long for its headers, want at most %d", v, uint64(1)<<f.Bits-1)
		}
		v, err := m.number(key, f.Bits, v)
		if err != nil {
			return b, err
		}
		put(raw, f, v)
	}
	if h == codec.HeaderTCAETH && m.short {
		b = b[:len(b)-3]
	}
	return b, nil
}

// put sets a field whose bits are zero.
func put(header []byte, f codec.Field, v uint64) {
	for end := f.Off + f.Bits; v != 0; {
		at := end - 1
		n := at%8 + 1 // bits of this byte up to the field's end
		header[at/8] |= byte(v << (8 - n))
		v >>= n
		end -= n
	}
}
