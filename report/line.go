package report

import (
	"strconv"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// Lines writes packets for people, one a line:
//
//	1  0.000000000  192.0.2.1 > 192.0.2.2  qp 0x000111  psn 100  RC RDMA WRITE First  256 B  va 0x7f0000000000 rkey 0x1234 dmalen 2048
//
// Columns are aligned and widen as wider values come.
type Lines struct {
	Style
	Absolute bool  // times in UTC, not in seconds since Origin
	Origin   int64 // time of the input's first frame, nanoseconds since 1970

	path, psn, opcode int // widths so far
}

// Widths that columns begin with.
const (
	frameWidth  = 5
	timeWidth   = 11
	psnWidth    = 5
	opcodeWidth = 20 // "RC RDMA WRITE Middle"
	sizeWidth   = 6
)

// Append appends the packet's line to b.
func (l *Lines) Append(b []byte, p *Packet) []byte {
	from := len(b)
	b = strconv.AppendInt(b, int64(p.Frame.Number), 10)
	b = append(padLeft(b, from, frameWidth), ' ', ' ')
	b = append(b, l.dim.on...)
	from = len(b)
	b = l.appendTime(b, p.Frame.Time)
	b = padLeft(b, from, timeWidth)
	b = append(b, l.dim.off...)
	b = append(b, ' ', ' ')
	from = len(b)
	b = p.Outer.Src.AppendTo(b)
	b = append(b, " > "...)
	b = p.Outer.Dst.AppendTo(b)
	b = append(padColumn(b, from, &l.path), ' ', ' ')
	if !p.Has(codec.HeaderBTH) {
		b = l.bad.append(b, p.Err.Error())
		return append(b, '\n')
	}
	b = append(b, "qp "...)
	b = appendQPN(b, p.BTH.DestQP)
	b = append(b, "  psn "...)
	from = len(b)
	b = strconv.AppendUint(b, uint64(p.BTH.PSN), 10)
	l.psn = max(l.psn, psnWidth)
	b = append(padColumn(b, from, &l.psn), ' ', ' ')
	paint := l.opcodePaint(p)
	b = append(b, paint.on...)
	from = len(b)
	b = append(b, p.BTH.Opcode.String()...)
	l.opcode = max(l.opcode, opcodeWidth)
	b = padColumn(b, from, &l.opcode)
	b = append(b, paint.off...)
	b = append(b, ' ')
	b = l.appendSize(b, p)
	b = l.appendDetails(b, p)
	b = trimRight(b)
	return append(b, '\n')
}

// AppendHeading appends a line that names the capture which follows.
func (l *Lines) AppendHeading(b []byte, name string) []byte {
	return append(l.bold.append(b, Visible(name)), '\n')
}

func (l *Lines) appendTime(b []byte, ns int64) []byte {
	if l.Absolute {
		return time.Unix(0, ns).UTC().AppendFormat(b, "2006-01-02T15:04:05.000000000Z")
	}
	v := uint64(ns) - uint64(l.Origin)
	if ns < l.Origin { // captures are not always in order of time
		b = append(b, '-')
		v = -v
	}
	b = strconv.AppendUint(b, v/1e9, 10)
	b = append(b, '.')
	return appendPadded(b, v%1e9, 10, 9)
}

// appendSize appends the length of the payload where the operation has one.
func (l *Lines) appendSize(b []byte, p *Packet) []byte {
	from := len(b)
	if p.Err == nil && p.BTH.Opcode.Payload() {
		b = strconv.AppendInt(b, int64(p.PayloadLen), 10)
		b = append(b, " B"...)
	}
	return append(padLeft(b, from, sizeWidth), ' ')
}

// opcodePaint marks what an eye should stop at: refusals, feedback, congestion.
func (l *Lines) opcodePaint(p *Packet) paint {
	switch {
	case p.Has(codec.HeaderAETH) && p.AETH.Syndrome.Kind() == codec.KindNAK:
		return l.bad
	case p.Has(codec.HeaderAETH) && p.AETH.Syndrome.Kind() == codec.KindRNRNAK, p.BTH.Opcode == codec.OpcodeCNP:
		return l.warn
	case p.BTH.Opcode.Response():
		return l.good
	}
	return l.accent
}

// appendDetails appends what the headers behind the BTH say, flags, and faults,
// each with a space before it.
func (l *Lines) appendDetails(b []byte, p *Packet) []byte {
	for h := codec.HeaderRDETH; h <= codec.HeaderCNP; h++ {
		if p.Has(h) {
			b = l.appendHeader(b, p, h)
		}
	}
	b = appendMessage(b, p)
	b = l.appendFlags(b, p)
	for _, tunnel := range p.Outer.Tunnels[:p.Outer.Tunnels.Len()] {
		b = append(append(b, " in "...), tunnel.String()...)
	}
	if have, want := len(p.Outer.Transport()), p.Outer.WireLen; have < want {
		paint, what := l.dim, "cut at "
		if !p.Outer.Cut { // nothing is missing of the frame
			paint, what = l.warn, "frame ends at "
		}
		b = append(append(b, ' '), paint.on...)
		b = append(b, what...)
		b = strconv.AppendInt(b, int64(have), 10)
		b = append(b, " of "...)
		b = strconv.AppendInt(b, int64(want), 10)
		b = append(append(b, " B"...), paint.off...)
	}
	if p.ICRC == dissect.ICRCBad {
		b = l.bad.append(append(b, ' '), "ICRC BAD")
	}
	if p.Err != nil {
		b = l.bad.append(append(b, ' '), p.Err.Error())
	}
	return b
}

// appendHeader appends the gist of one header.
func (l *Lines) appendHeader(b []byte, p *Packet, h codec.Header) []byte {
	switch h {
	case codec.HeaderAETH:
		b = append(b, ' ')
		s := p.AETH.Syndrome
		switch s.Kind() {
		case codec.KindACK:
			b = append(b, s.String()...)
		case codec.KindRNRNAK:
			b = l.warn.append(b, s.String())
		default:
			b = l.bad.append(b, s.String())
		}
		b = append(b, " msn "...)
		return strconv.AppendUint(b, uint64(p.AETH.MSN), 10)
	case codec.HeaderTCAETH:
		return l.appendWindowless(b, &p.TCAETH)
	case codec.HeaderMPETH:
		b = append(b, " aack "...)
		b = strconv.AppendUint(b, uint64(p.MPETH.AACK), 10)
		if p.MPETH.ECE {
			b = l.warn.append(append(b, ' '), "ece")
		}
		if p.MPETH.ReTxEcho {
			b = append(b, " retxecho"...)
		}
		return b
	}
	raw := p.HeaderBytes(h)
	for _, f := range h.Fields() {
		if f.Reserved() {
			continue
		}
		b = append(append(append(b, ' '), label(h, f)...), ' ')
		if f.Base == codec.Hex {
			b = append(b, '0', 'x')
			b = strconv.AppendUint(b, f.Value(raw), 16)
			continue
		}
		b = strconv.AppendUint(b, f.Value(raw), 10)
	}
	return b
}

// label is the short word for a field in a line.
func label(h codec.Header, f codec.Field) string {
	switch {
	case f.Key == "r_key" && h == codec.HeaderIETH:
		return "inv"
	case f.Key == "r_key":
		return "rkey"
	case f.Key == "q_key":
		return "qkey"
	case f.Key == "immdt":
		return "imm"
	}
	return f.Key
}

// appendWindowless appends a T/C AETH: the block received without a hole, the
// segments behind it and the gaps between them.
func (l *Lines) appendWindowless(b []byte, h *codec.TCAETH) []byte {
	b = append(b, " upto "...)
	b = strconv.AppendUint(b, uint64(h.LastFinishedPSN), 10)
	if err := h.Validate(); err != nil {
		return l.bad.append(append(b, ' '), err.Error())
	}
	if segments, n := h.Segments(); n > 0 {
		b = append(b, " have "...)
		for i, r := range segments[:n] {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendRange(b, r)
		}
	}
	if gaps := h.Gaps(nil); len(gaps) > 0 {
		b = append(append(b, ' '), l.bad.on...)
		b = append(b, "missing "...)
		for i, r := range gaps {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendRange(b, r)
		}
		b = append(b, l.bad.off...)
	}
	return b
}

// appendFlags appends the bits that are set.
func (l *Lines) appendFlags(b []byte, p *Packet) []byte {
	for _, flag := range [...]struct {
		set  bool
		word string
		paint
	}{
		{p.BTH.AckReq, "ackreq", paint{}},
		{p.BTH.SE, "se", paint{}},
		{p.BTH.ReTx, "retx", l.warn},
		{p.BTH.Synchronise, "synchronise", paint{}},
		{p.BTH.FECN, "fecn", l.warn},
		{p.BTH.BECN, "becn", l.warn},
		{p.Outer.Traffic&dissect.ECNMask == dissect.ECNCE, "CE", l.warn},
	} {
		if flag.set {
			b = flag.append(append(b, ' '), flag.word)
		}
	}
	return b
}

func appendQPN(b []byte, qpn uint32) []byte {
	return appendPadded(append(b, '0', 'x'), uint64(qpn), 16, 6)
}

// pad appends spaces until what stands behind from is width bytes wide.
func pad(b []byte, from, width int) []byte {
	for len(b)-from < width {
		b = append(b, ' ')
	}
	return b
}

// padColumn pads to the width of a column, which widens when it must.
func padColumn(b []byte, from int, width *int) []byte {
	*width = max(*width, len(b)-from)
	return pad(b, from, *width)
}

// padLeft moves what stands behind from to the right end of width bytes.
func padLeft(b []byte, from, width int) []byte {
	n := len(b) - from
	b = pad(b, from, width)
	if n < width {
		copy(b[len(b)-n:], b[from:from+n])
		for i := from; i < len(b)-n; i++ {
			b[i] = ' '
		}
	}
	return b
}

func trimRight(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}
