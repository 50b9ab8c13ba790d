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
	b = fmt.Appendf(b, "  %s, %s", f.Link, bytesCount(f.WireLen))
	if len(f.Data) < f.WireLen {
		b = fmt.Appendf(b, ", captured %d", len(f.Data))
	}
	b = append(b, ", "...)
	b = time.Unix(0, f.Time).UTC().AppendFormat(b, "2006-01-02 15:04:05.000000000 UTC")
	b = append(b, "\n  "...)
	b = style.bold.append(b, carrierNames[o.Carrier])
	b = append(b, "  "...)
	b = append(o.Src.AppendTo(b), " > "...)
	b = o.Dst.AppendTo(b)
	if hasUDP(o.Carrier) {
		b = fmt.Appendf(b, ", source port %d", o.SrcPort)
	}
	if o.Carrier != codec.InfiniBand {
		b = fmt.Appendf(b, ", DSCP %d, %s, %s %d", o.Traffic>>2, ecnNames[o.Traffic&dissect.ECNMask], hopName(o.Carrier), o.HopLimit)
	}
	if o.Carrier == codec.RoCEv2IPv4 {
		b = fmt.Appendf(b, ", id 0x%04x", o.IPID)
	}
	if o.VLAN != 0 {
		b = fmt.Appendf(b, ", VLAN %d", o.VLAN)
	}
	for _, tunnel := range o.Tunnels[:o.Tunnels.Len()] {
		b = append(append(b, ", in "...), tunnel.String()...)
	}
	if o.VNI != 0 {
		b = fmt.Appendf(b, ", VNI %d", o.VNI)
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
		return "TTL"
	}
	return "hop limit"
}

// appendRows appends a header and its fields, one a line.
func appendRows(b []byte, h codec.Header, raw []byte, p *Packet, style Style) []byte {
	b = append(b, "  "...)
	b = style.bold.append(b, h.String())
	b = append(b, "  "...)
	b = style.dim.append(b, h.Doc())
	b = append(b, '\n')
	for i, f := range h.Fields() {
		if f.Off+f.Bits > 8*len(raw) {
			break // the short form of a T/C AETH ends before its last field
		}
		paint := style.accent
		if f.Reserved() || h == codec.HeaderTCAETH && unusedSegment(&p.TCAETH, i) {
			paint = style.dim
		}
		b = append(b, "    "...)
		from := len(b)
		b = append(append(append(b, h.Key()...), '.'), fieldKey(f)...)
		b = append(pad(b, from, 22), ' ', ' ')
		b = append(b, paint.on...)
		from = len(b)
		b = append(b, f.Text(raw)...)
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
func meaning(h codec.Header, f codec.Field, raw []byte) string {
	v := f.Value(raw)
	switch {
	case h == codec.HeaderBTH && f.Key == "opcode":
		return codec.Opcode(v).String()
	case h == codec.HeaderAETH && f.Key == "syndrome":
		return codec.Syndrome(v).String()
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
		b = append(append(b, "  "...), bytesCount(p.PayloadLen)...)
		if len(p.Payload) < p.PayloadLen {
			b = fmt.Appendf(b, ", captured %d", len(p.Payload))
		}
		b = append(b, '\n')
	}
	if len(p.Pad) > 0 {
		b = append(b, "  "...)
		b = style.bold.append(b, "Pad")
		b = fmt.Appendf(b, "  % x\n", p.Pad)
	}
	b = append(b, "  "...)
	b = style.bold.append(b, "ICRC")
	b = append(b, "  "...)
	switch rest := p.rest(); p.ICRC {
	case dissect.ICRCGood:
		b = fmt.Appendf(b, "% x  ", rest)
		b = style.good.append(b, "good")
	case dissect.ICRCBad:
		b = fmt.Appendf(b, "% x  ", rest)
		b = style.bad.append(b, "BAD")
		covered := p.Outer.Covered[:len(p.Outer.Covered)-len(rest)]
		if want, err := codec.ICRC(p.Outer.Carrier, covered, p.Outer.BTH); err == nil {
			b = fmt.Appendf(b, ", computed % x", codec.AppendICRC(nil, want))
		}
	default:
		b = append(b, "absent: not captured, nothing to check"...)
	}
	return append(b, '\n')
}

func bytesCount(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.Itoa(n) + " bytes"
}
