package filter

import (
	"slices"
	"strings"
	"sync"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// fields are all there is to ask for, by the keys of the JSON output.
var fields = sync.OnceValue(func() map[string]value {
	all := map[string]value{}
	add := func(v value) {
		if _, known := all[v.name]; !known { // of reserved fields of the same name, the first
			all[v.name] = complete(v)
		}
	}
	for _, v := range packetFields() {
		add(v)
	}
	for _, h := range codec.Headers() {
		if h == codec.HeaderImmDt { // a plain number
			add(tableField(h, 0, h.Key()))
			continue
		}
		add(value{kind: aHeader, name: h.Key(), has: func(v *view) bool { return v.header(h) != nil }})
		for i, f := range h.Fields() {
			key := f.Key
			if f.Reserved() {
				key = strings.ToLower(f.Name)
			}
			add(tableField(h, i, h.Key()+"."+key))
		}
	}
	for _, v := range outerFields() {
		add(v)
	}
	return all
})

// Fields lists the names of all fields and headers, sorted.
func Fields() []string {
	names := make([]string, 0, len(fields()))
	for name := range fields() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// complete adds how to tell whether a packet has the field.
func complete(v value) value {
	switch {
	case v.has != nil:
	case v.number != nil:
		ask := v.number
		v.has = func(v *view) bool { _, ok := ask(v); return ok }
	case v.text != nil:
		ask := v.text
		v.has = func(v *view) bool { _, ok := ask(v); return ok }
	case v.address != nil:
		ask := v.address
		v.has = func(v *view) bool { _, ok := ask(v); return ok }
	case v.list != nil:
		ask := v.list
		v.has = func(v *view) bool { return ask(v) != nil }
	}
	return v
}

// packetFields are those beside the headers.
func packetFields() []value {
	of := func(get func(*view) dissect.Address) address {
		return func(v *view) (dissect.Address, bool) {
			a := get(v)
			return a, a != dissect.Address{}
		}
	}
	return []value{
		{kind: aNumber, name: "frame", number: func(v *view) (uint64, bool) { return uint64(v.Number), true }},
		{kind: aNumber, name: "file", number: func(v *view) (uint64, bool) { return uint64(v.File), true }},
		{kind: aTime, name: "time", has: func(*view) bool { return true }},
		{kind: aText, name: "carrier", text: func(v *view) (string, bool) { return v.Carrier.String(), true }},
		{kind: aList, name: "tunnel", list: tunnels()},
		{kind: anAddress, name: "src", address: of(func(v *view) dissect.Address { return v.Src })},
		{kind: anAddress, name: "dst", address: of(func(v *view) dissect.Address { return v.Dst })},
		{kind: anAddress, name: "sgid", address: of(func(v *view) dissect.Address { return v.SGID })},
		{kind: anAddress, name: "dgid", address: of(func(v *view) dissect.Address { return v.DGID })},
		{kind: aNumber, name: "sport", bits: 16, number: func(v *view) (uint64, bool) { return uint64(v.SrcPort), v.udp() != nil }},
		{kind: aText, name: "opcode_name", text: func(v *view) (string, bool) {
			op, ok := v.opcode()
			return opcodeNames()[op], ok
		}},
		{kind: aNumber, name: "payload_len", number: func(v *view) (uint64, bool) {
			p := v.packet()
			return uint64(p.PayloadLen), v.fault == nil
		}},
		{kind: aText, name: "icrc", text: func(v *view) (string, bool) { return v.icrc().String(), true }},
		{kind: aText, name: "error", text: func(v *view) (string, bool) {
			if v.packet(); v.fault == nil {
				return "", false
			}
			return v.fault.Error(), true
		}},
		{kind: aNumber, name: "tcaeth.length", number: func(v *view) (uint64, bool) {
			raw := v.header(codec.HeaderTCAETH)
			return uint64(len(raw)), raw != nil
		}},
		{kind: aList, name: "tcaeth.gaps", list: tcGaps()},
		{kind: aText, name: "tcaeth.error", text: func(v *view) (string, bool) {
			if v.header(codec.HeaderTCAETH) == nil {
				return "", false
			}
			if err := v.codec.TCAETH.Validate(); err != nil {
				return err.Error(), true
			}
			return "", false
		}},
	}
}

// opcodeNames spells all opcodes out.
var opcodeNames = sync.OnceValue(func() *[256]string {
	var names [256]string
	for i := range names {
		names[i] = codec.Opcode(i).String()
	}
	return &names
})

// tunnels lists what was unwrapped.
func tunnels() list {
	var names []string
	return func(v *view) []string {
		names = names[:0]
		for _, t := range v.Tunnels[:v.Tunnels.Len()] {
			names = append(names, t.String())
		}
		if len(names) == 0 {
			return nil
		}
		return names
	}
}

// tcGaps lists what a T/C AETH says is missing.
func tcGaps() list {
	return func(v *view) []string {
		if v.header(codec.HeaderTCAETH) == nil {
			return nil
		}
		var gaps [3]psn.Range
		names := []string{}
		for _, r := range v.codec.TCAETH.Gaps(gaps[:0]) {
			names = append(names, r.String())
		}
		return names
	}
}

// tableField is the i-th row of a header in the field table.
func tableField(h codec.Header, i int, name string) value {
	f := h.Fields()[i]
	out := value{name: name, bits: f.Bits, quoted: f.Bits > 53}
	out.isPSN = f.Bits == 24 && (strings.Contains(f.Key, "psn") || f.Key == "aack" || strings.HasSuffix(f.Key, "left") || strings.HasSuffix(f.Key, "right"))
	end := (f.Off + f.Bits + 7) / 8
	bytes := func(v *view) []byte {
		if raw := v.header(h); len(raw) >= end {
			return raw
		}
		return nil
	}
	const firstSegment = 2 // row of Seg1Left in the T/C AETH
	if h == codec.HeaderTCAETH && i >= firstSegment && !f.Reserved() {
		plain := bytes
		bytes = func(v *view) []byte {
			raw := plain(v)
			if raw == nil {
				return nil
			}
			if _, n := v.codec.TCAETH.Segments(); i >= firstSegment+2*n {
				return nil // not one of those that SegmentNum counts
			}
			return raw
		}
	}
	switch f.Base {
	case codec.GID:
		out.kind = anAddress
		out.address = func(v *view) (dissect.Address, bool) {
			if raw := bytes(v); raw != nil {
				return dissect.AddressFrom16(f.Bytes(raw)), true
			}
			return dissect.Address{}, false
		}
	case codec.Data:
		out.kind = aText
		out.text = func(v *view) (string, bool) {
			if raw := bytes(v); raw != nil {
				return f.Text(raw), true
			}
			return "", false
		}
	default:
		out.kind = aNumber
		out.number = func(v *view) (uint64, bool) {
			if raw := bytes(v); raw != nil {
				return f.Value(raw), true
			}
			return 0, false
		}
	}
	return out
}

// outerFields are those of IP and UDP, as read --json=full has them.
func outerFields() []value {
	rows := func(header string, get func(*view) []byte, rows ...codec.Field) []value {
		out := []value{{kind: aHeader, name: header, has: func(v *view) bool { return get(v) != nil }}}
		for _, f := range rows {
			out = append(out, value{kind: aNumber, name: header + "." + f.Key, bits: f.Bits, number: func(v *view) (uint64, bool) {
				raw := get(v)
				return f.Value(raw), raw != nil
			}})
		}
		return out
	}
	v4 := func(v *view) []byte { return v.ip(4) }
	v6 := func(v *view) []byte { return v.ip(6) }
	ip := rows("ip", func(v *view) []byte {
		if raw := v.ip(4); raw != nil {
			return raw
		}
		return v.ip(6)
	}, codec.Field{Key: "version", Off: 0, Bits: 4})
	ip = append(ip, rows("ip", v4,
		codec.Field{Key: "dsfield", Off: 8, Bits: 8}, codec.Field{Key: "len", Off: 16, Bits: 16}, codec.Field{Key: "id", Off: 32, Bits: 16},
		codec.Field{Key: "flags", Off: 48, Bits: 3}, codec.Field{Key: "frag_offset", Off: 51, Bits: 13}, codec.Field{Key: "ttl", Off: 64, Bits: 8},
		codec.Field{Key: "proto", Off: 72, Bits: 8}, codec.Field{Key: "checksum", Off: 80, Bits: 16})...)
	ip = append(ip, rows("ip", v6,
		codec.Field{Key: "tclass", Off: 4, Bits: 8}, codec.Field{Key: "flow", Off: 12, Bits: 20}, codec.Field{Key: "plen", Off: 32, Bits: 16},
		codec.Field{Key: "nxt", Off: 48, Bits: 8}, codec.Field{Key: "hlim", Off: 56, Bits: 8})...)
	return append(ip, rows("udp", (*view).udp,
		codec.Field{Key: "srcport", Off: 0, Bits: 16}, codec.Field{Key: "dstport", Off: 16, Bits: 16},
		codec.Field{Key: "length", Off: 32, Bits: 16}, codec.Field{Key: "checksum", Off: 48, Bits: 16})...)
}
