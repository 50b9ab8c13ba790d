package report

import (
	"strconv"
	"strings"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// JSON writes packets as JSON objects, one a line; docs/output.md describes
// them.
type JSON struct {
	Full  bool // with everything that is needed to make the same bytes again
	Files bool // with the index of the file that each packet comes from
}

// Append appends the packet's object and a newline to b.
func (j JSON) Append(b []byte, p *Packet) []byte {
	b = append(b, `{"frame":`...)
	b = strconv.AppendInt(b, int64(p.Frame.Number), 10)
	if j.Files {
		b = append(b, `,"file":`...)
		b = strconv.AppendInt(b, int64(p.Frame.File), 10)
	}
	b = append(b, `,"time":`...)
	b = appendTime(b, p.Frame.Time)
	b = append(b, `,"carrier":"`...)
	b = append(b, p.Outer.Carrier.String()...)
	b = append(b, '"')
	b = appendTunnels(b, &p.Outer.Tunnels)
	b = appendAddress(b, `,"src":`, p.Outer.Src)
	b = appendAddress(b, `,"dst":`, p.Outer.Dst)
	if p.Outer.SGID != (dissect.Address{}) || p.Outer.DGID != (dissect.Address{}) {
		b = appendAddress(b, `,"sgid":`, p.Outer.SGID)
		b = appendAddress(b, `,"dgid":`, p.Outer.DGID)
	}
	if hasUDP(p.Outer.Carrier) {
		b = append(b, `,"sport":`...)
		b = strconv.AppendUint(b, uint64(p.Outer.SrcPort), 10)
	}
	if j.Full {
		b = appendOuter(b, p)
	}
	if p.Has(codec.HeaderBTH) {
		b = append(b, `,"opcode_name":`...)
		b = appendString(b, p.BTH.Opcode.String())
	}
	for h := codec.HeaderBTH; h <= codec.HeaderCNP; h++ {
		if p.Has(h) && (j.Full || h != codec.HeaderCNP) { // a CNP has reserved bytes only
			b = j.appendHeader(b, p, h)
		}
	}
	b = j.appendManagement(b, p)
	if p.Err == nil {
		b = append(b, `,"payload_len":`...)
		b = strconv.AppendInt(b, int64(p.PayloadLen), 10)
	}
	b = append(b, `,"icrc":"`...)
	b = append(b, p.ICRC.String()...)
	b = append(b, '"')
	if j.Full {
		b = appendInner(b, p)
	}
	if p.Err != nil {
		b = append(b, `,"error":`...)
		b = appendString(b, p.Err.Error())
	}
	return append(b, "}\n"...)
}

func hasUDP(c codec.Carrier) bool { return c == codec.RoCEv2IPv4 || c == codec.RoCEv2IPv6 }

func appendTunnels(b []byte, t *dissect.Tunnels) []byte {
	n := t.Len()
	if n == 0 {
		return b
	}
	b = append(b, `,"tunnel":[`...)
	for i, tunnel := range t[:n] {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, tunnel.String())
	}
	return append(b, ']')
}

func appendAddress(b []byte, key string, a dissect.Address) []byte {
	b = append(b, key...)
	b = append(b, '"')
	b = a.AppendTo(b)
	return append(b, '"')
}

// appendHeader appends a header's object from the field table.
func (j JSON) appendHeader(b []byte, p *Packet, h codec.Header) []byte {
	raw := p.HeaderBytes(h)
	if h == codec.HeaderImmDt { // a plain number
		b = append(b, `,"immdt":`...)
		return strconv.AppendUint(b, h.Fields()[0].Value(raw), 10)
	}
	b = append(b, ',', '"')
	b = append(b, h.Key()...)
	b = append(b, `":{`...)
	from := len(b)
	skip := len(h.Fields())
	if h == codec.HeaderTCAETH && !j.Full {
		_, n := p.TCAETH.Segments()
		skip = firstSegment + 2*n
	}
	b = appendFields(b, h, raw, skip, j.Full)
	if h == codec.HeaderTCAETH {
		b = appendReport(b, &p.TCAETH)
	}
	return endObject(b, from)
}

// firstSegment is the row of Seg1Left in the T/C AETH.
const firstSegment = 2

// appendFields appends the first n fields of a header, each with a comma before
// it: all of them, reserved ones too, or those that mean something.
func appendFields(b []byte, h codec.Header, raw []byte, n int, all bool) []byte {
	for i, f := range h.Fields()[:n] {
		if f.Off+f.Bits > 8*len(raw) {
			break // the short form of a T/C AETH ends before its last field
		}
		if !all {
			if f.Reserved() {
				continue
			}
			if h == codec.HeaderBTH && mpOnly(f) && f.Value(raw) == 0 {
				continue
			}
		}
		b = append(b, fieldKeys[h][i]...)
		switch {
		case f.Base == codec.GID || f.Base == codec.Data:
			b = append(b, '"')
			b = append(b, f.Text(raw)...)
			b = append(b, '"')
		case f.Bits > 53: // more than a JSON number holds
			b = appendHex64(b, f.Value(raw))
		default:
			b = strconv.AppendUint(b, f.Value(raw), 10)
		}
	}
	return b
}

// mpOnly reports the two bits of the BTH that only MP-RDMA sets.
func mpOnly(f codec.Field) bool { return f.Key == "retx" || f.Key == "synchronise" }

// fieldKeys spell `,"psn":` out for every row of the field table. Reserved
// fields go by their name.
var fieldKeys = spellFieldKeys()

func spellFieldKeys() [][]string {
	headers := codec.Headers()
	keys := make([][]string, len(headers))
	for _, h := range headers {
		for _, f := range h.Fields() {
			keys[h] = append(keys[h], `,"`+fieldKey(f)+`":`)
		}
	}
	return keys
}

func fieldKey(f codec.Field) string {
	if f.Reserved() {
		return strings.ToLower(f.Name)
	}
	return f.Key
}

// appendReport appends what a T/C AETH says beyond its fields.
func appendReport(b []byte, h *codec.TCAETH) []byte {
	b = append(b, `,"length":`...)
	b = strconv.AppendInt(b, int64(h.Len()), 10)
	b = append(b, `,"gaps":[`...)
	var gaps [3]psn.Range
	for i, r := range h.Gaps(gaps[:0]) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = appendRange(b, r)
		b = append(b, '"')
	}
	b = append(b, ']')
	if err := h.Validate(); err != nil {
		b = append(b, `,"error":`...)
		b = appendString(b, err.Error())
	}
	return b
}

// appendRange appends "102-103", or "102" for a single PSN.
func appendRange(b []byte, r psn.Range) []byte {
	b = strconv.AppendUint(b, uint64(r.First), 10)
	if r.First != r.Last {
		b = append(b, '-')
		b = strconv.AppendUint(b, uint64(r.Last), 10)
	}
	return b
}
