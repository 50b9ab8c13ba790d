package report

import (
	"fmt"
	"strconv"
	"time"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// AppendTree appends every field of every header of the packet, indented, from
// the field table: its name as Wireshark has it, its value and what that means.
func AppendTree(b []byte, p *Packet, style Style) []byte {
	b = appendFrameRow(b, p, style)
	switch p.Outer.Carrier {
	case codec.InfiniBand:
		b = appendRows(b, codec.HeaderLRH, p.Outer.Covered[:p.Outer.BTH], p, style)
	case codec.InfiniBandGRH:
		if n := len(p.Outer.Link); n >= 8 {
			b = appendRows(b, codec.HeaderLRH, p.Outer.Link[n-8:], p, style)
		}
		fallthrough
	case codec.RoCEv1:
		b = appendRows(b, codec.HeaderGRH, p.Outer.Covered[:p.Outer.BTH], p, style)
	}
	for h := codec.HeaderBTH; h <= codec.HeaderCNP; h++ {
		if p.Has(h) {
			b = appendRows(b, h, p.HeaderBytes(h), p, style)
		}
	}
	b = appendManagementRows(b, p, style)
	b = appendTail(b, p, style)
	if p.Err != nil {
		b = append(b, "  "...)
		b = style.bad.append(b, p.Err.Error())
		b = append(b, '\n')
	}
	return b
}

// appendFrameRow appends what the frame and the headers outside the transport
// packet say.
func appendFrameRow(b []byte, p *Packet, style Style) []byte {
	f, o := p.Frame, p.Outer
	b = append(b, "  "...)
	b = style.bold.append(b, "Frame")
	b = append(append(b, "  "...), f.Link.String()...)
	b = appendBytesCount(append(b, ", "...), f.WireLen)
	if len(f.Data) < f.WireLen {
		b = appendFact(b, ", captured ", len(f.Data))
	}
	b = append(b, ", "...)
	b = time.Unix(0, f.Time).UTC().AppendFormat(b, "2006-01-02 15:04:05.000000000 UTC")
	b = append(b, "\n  "...)
	b = style.bold.append(b, carrierNames[o.Carrier])
	b = append(b, "  "...)
	b = append(o.Src.AppendTo(b), " > "...)
	b = o.Dst.AppendTo(b)
	if hasUDP(o.Carrier) {
		b = appendFact(b, ", source port ", int(o.SrcPort))
	}
	if o.Carrier != codec.InfiniBand {
		b = appendFact(b, ", DSCP ", int(o.Traffic>>2))
		b = append(append(b, ", "...), ecnNames[o.Traffic&dissect.ECNMask]...)
		b = appendFact(b, hopName(o.Carrier), int(o.HopLimit))
	}
	if o.Carrier == codec.RoCEv2IPv4 {
		b = appendPadded(append(b, ", id 0x"...), uint64(o.IPID), 16, 4)
	}
	if o.VLAN != 0 {
		b = appendFact(b, ", VLAN ", int(o.VLAN))
	}
	for _, tunnel := range o.Tunnels[:o.Tunnels.Len()] {
		b = append(append(b, ", in "...), tunnel.String()...)
	}
	if o.VNI != 0 {
		b = appendFact(b, ", VNI ", int(o.VNI))
	}
	return append(b, '\n')
}

var carrierNames = [...]string{
	codec.RoCEv2IPv4:    "RoCEv2 over IPv4",
	codec.RoCEv2IPv6:    "RoCEv2 over IPv6",
	codec.RoCEv1:        "RoCEv1",
	codec.InfiniBand:    "InfiniBand",
	codec.InfiniBandGRH: "InfiniBand with GRH",
}

// ecnNames are the values of RFC 3168.
var ecnNames = [4]string{"not ECN-capable", "ECT(1)", "ECT(0)", "CE"}

func hopName(c codec.Carrier) string {
	if c == codec.RoCEv2IPv4 {
		return ", TTL "
	}
	return ", hop limit "
}

// appendRows appends a header and its fields, one a line.
func appendRows(b []byte, h codec.Header, raw []byte, p *Packet, style Style) []byte {
	b = append(b, "  "...)
	b = style.bold.append(b, h.String())
	b = append(b, "  "...)
	b = style.dim.append(b, h.Doc())
	b = append(b, '\n')
	fields := h.Fields()
	for i := range fields {
		f := &fields[i]
		if f.Off+f.Bits > 8*len(raw) {
			break // the short form of a T/C AETH ends before its last field
		}
		paint := style.accent
		if f.Reserved() || h == codec.HeaderTCAETH && unusedSegment(&p.TCAETH, i) {
			paint = style.dim
		}
		b = append(b, rowNames[h][i]...)
		b = append(b, paint.on...)
		from := len(b)
		b = f.AppendText(b, raw)
		b = pad(b, from, 18)
		b = append(b, paint.off...)
		b = append(b, ' ', ' ')
		b = append(b, meaning(h, f, raw)...)
		b = append(b, '\n')
	}
	if h == codec.HeaderTCAETH {
		b = appendGapsRow(b, &p.TCAETH, style)
	}
	return b
}

// rowNames begin the row of each field of the table: "    bth.psn                 ".
var rowNames = spellRowNames()

func spellRowNames() [][]string {
	headers := codec.Headers()
	names := make([][]string, len(headers))
	for _, h := range headers {
		for _, f := range h.Fields() {
			names[h] = append(names[h], fmt.Sprintf("    %-22s  ", h.Key()+"."+fieldKey(f)))
		}
	}
	return names
}

// unusedSegment reports rows of a T/C AETH that SegmentNum leaves out.
func unusedSegment(h *codec.TCAETH, row int) bool {
	_, n := h.Segments()
	return row >= firstSegment+2*n && row < firstSegment+6
}

func appendGapsRow(b []byte, h *codec.TCAETH, style Style) []byte {
	b = append(b, "    missing                 "...)
	switch gaps := h.Gaps(nil); {
	case h.Validate() != nil:
		b = style.bad.append(b, h.Validate().Error())
	case len(gaps) == 0:
		b = append(b, "nothing between the segments"...)
	default:
		b = append(b, style.bad.on...)
		for i, r := range gaps {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendRange(b, r)
		}
		b = append(b, style.bad.off...)
	}
	return append(b, '\n')
}

// meaning says what a value stands for, or else what the field is.
func meaning(h codec.Header, f *codec.Field, raw []byte) string {
	switch {
	case h == codec.HeaderBTH && f.Key == "opcode":
		return codec.Opcode(f.Value(raw)).String()
	case h == codec.HeaderAETH && f.Key == "syndrome":
		return codec.Syndrome(f.Value(raw)).String()
	case h == codec.HeaderMAD && f.Key == "attributeid":
		if raw[1] == codec.ClassCM {
			return codec.Attribute(f.Value(raw)).String()
		}
	}
	return f.Doc
}

// appendTail appends payload, pad and ICRC.
func appendTail(b []byte, p *Packet, style Style) []byte {
	name := "Payload"
	if p.Err != nil {
		name = "Undecoded"
	}
	if p.PayloadLen > 0 {
		b = append(b, "  "...)
		b = style.bold.append(b, name)
		b = appendBytesCount(append(b, "  "...), p.PayloadLen)
		if len(p.Payload) < p.PayloadLen {
			b = appendFact(b, ", captured ", len(p.Payload))
		}
		b = append(b, '\n')
	}
	if len(p.Pad) > 0 {
		b = append(b, "  "...)
		b = style.bold.append(b, "Pad")
		b = append(appendSpaced(append(b, "  "...), p.Pad), '\n')
	}
	b = append(b, "  "...)
	b = style.bold.append(b, "ICRC")
	b = append(b, "  "...)
	switch rest := p.rest(); p.ICRC {
	case dissect.ICRCGood:
		b = append(appendSpaced(b, rest), "  "...)
		b = style.good.append(b, "good")
	case dissect.ICRCBad:
		b = append(appendSpaced(b, rest), "  "...)
		b = style.bad.append(b, "BAD")
		covered := p.Outer.Covered[:len(p.Outer.Covered)-len(rest)]
		if want, err := codec.ICRC(p.Outer.Carrier, covered, p.Outer.BTH); err == nil {
			var computed [4]byte
			b = appendSpaced(append(b, ", computed "...), codec.AppendICRC(computed[:0], want))
		}
	default:
		b = append(b, "absent: "...)
		switch {
		case len(p.Outer.Transport()) >= p.Outer.WireLen:
			b = append(b, "the lengths of the packet leave no room for it"...)
		case p.Outer.Cut:
			b = append(b, "not captured, nothing to check"...)
		default:
			b = append(b, "the frame ends before it"...)
		}
	}
	return append(b, '\n')
}

// appendBytesCount appends "1 byte", "16 bytes".
func appendBytesCount(b []byte, n int) []byte {
	if n == 1 {
		return append(b, "1 byte"...)
	}
	return append(strconv.AppendInt(b, int64(n), 10), " bytes"...)
}

// appendFact appends words and a number.
func appendFact(b []byte, words string, n int) []byte {
	return strconv.AppendInt(append(b, words...), int64(n), 10)
}

// appendSpaced appends bytes as "4a ca 02 49".
func appendSpaced(b, data []byte) []byte {
	for i, c := range data {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, hexDigits[c>>4], hexDigits[c&15])
	}
	return b
}
