package lua

import (
	"bytes"
	"embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/rdmadump/rdmadump/codec"
)

//go:embed src/*.lua
var sources embed.FS

// parts are the hand-written files in the order in which they read each other.
var parts = [...]string{"carrier", "transport", "icrc", "spans", "marks", "paths", "stream", "gap", "late", "conclude", "reads", "passed",
	"numbers", "run", "arrived", "turnedaway", "selective", "feedback", "half", "fields", "tree", "dissector", "summary"}

// Generate makes the plugin: the head, the tables, and the files of src.
func Generate() []byte {
	var b bytes.Buffer
	b.Write(source("head"))
	fmt.Fprintf(&b, "-- Made by the package lua of rdmadump; do not change it by hand.\n\n")
	fmt.Fprintf(&b, "local VERSION = %q\n", Version)
	b.WriteString(shorthands)
	writeHeaders(&b)
	writeOpcodes(&b)
	writeEnumerations(&b)
	for _, name := range parts {
		b.WriteByte('\n')
		b.Write(source(name))
	}
	return b.Bytes()
}

func source(name string) []byte {
	b, err := sources.ReadFile("src/" + name + ".lua")
	if err != nil {
		panic(err) // embedded
	}
	return b
}

// shorthands are what all files of src use.
const shorthands = `
if set_plugin_info then
  set_plugin_info { version = VERSION, description = "RDMA: all headers, ICRC, sequence analysis", repository = "https://github.com/rdmadump/rdmadump" }
end

local byte, sub = string.byte, string.sub
local floor, min, max = math.floor, math.min, math.max
`

// writeHeaders renders the field table. A field lies in size whole bytes from
// off on; mask is nil where it fills them.
func writeHeaders(b *bytes.Buffer) {
	b.WriteString("\n-- The headers and their fields.\nlocal HEADER_ROWS = {\n")
	for _, h := range codec.Headers() {
		fields := h.Fields()
		fmt.Fprintf(b, "  { key = %q, name = %q, len = %d,", h.Key(), h.String(), h.Len())
		if len(fields) == 1 && fields[0].Key == h.Key() {
			b.WriteString(" single = true,")
		}
		b.WriteString(" fields = {\n")
		for _, f := range fields {
			writeField(b, f)
		}
		b.WriteString("  } },\n")
	}
	b.WriteString("}\nlocal HEADERS = {}\nfor _, h in ipairs(HEADER_ROWS) do HEADERS[h.key] = h end\n")
}

var bases = [...]string{codec.Dec: "dec", codec.Hex: "hex", codec.Flag: "flag", codec.GID: "gid", codec.Data: "data"}

func writeField(b *bytes.Buffer, f codec.Field) {
	key := f.Key
	if f.Reserved() {
		key = strings.ToLower(f.Name)
	}
	first, size := f.Off/8, (f.Off+f.Bits+7)/8-f.Off/8
	mask := ""
	if f.Bits <= 64 && f.Base != codec.Data {
		if size == 5 || size == 6 || size == 7 {
			panic("a field in " + strconv.Itoa(size) + " bytes") // no such type in Wireshark
		}
		if f.Bits != 8*size {
			shift := 8*(first+size) - f.Off - f.Bits
			mask = fmt.Sprintf(", mask = %#x", (uint64(1)<<f.Bits-1)<<shift)
		}
	}
	fmt.Fprintf(b, "    { key = %q, name = %q, off = %d, size = %d, base = %q%s, doc = %q },\n",
		key, strings.ReplaceAll(f.Name, ".", " "), first, size, bases[f.Base], mask, f.Doc)
}

var verbs = [...]string{codec.VerbNone: "", codec.VerbSend: "send", codec.VerbWrite: "write", codec.VerbRead: "read",
	codec.VerbAtomic: "atomic", codec.VerbFlush: "flush", codec.VerbAtomicWrite: "atomic write", codec.VerbResync: "resync",
	codec.VerbReadResponse: "read response", codec.VerbAck: "ack", codec.VerbAtomicAck: "atomic ack"}

// writeOpcodes renders the opcodes that are known: what follows the BTH, and
// where the headers lie that the analysis reads.
func writeOpcodes(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n-- The opcodes.\nlocal CNP = %#02x\nlocal FORMS = {\n", uint8(codec.OpcodeCNP))
	for i := range 256 {
		if op := codec.Opcode(i); op.Known() {
			writeOpcode(b, op)
		}
	}
	b.WriteString("}\nfor op, form in pairs(FORMS) do\n  form.op = op\n" +
		"  for i, key in ipairs(form.headers) do form.headers[i] = HEADERS[key] end\nend\n")
}

func writeOpcode(b *bytes.Buffer, op codec.Opcode) {
	fmt.Fprintf(b, "  [%#02x] = { name = %q, service = %q, verb = %q, len = %d,", uint8(op), op.String(), op.Service().String(), verbs[op.Verb()], op.Headers().Len())
	off := 0
	var headers []string
	for _, h := range codec.Headers() {
		if !op.Headers().Has(h) {
			continue
		}
		if h != codec.HeaderBTH {
			headers = append(headers, strconv.Quote(h.Key()))
		}
		switch h {
		case codec.HeaderRETH:
			fmt.Fprintf(b, " reth = %d,", off)
		case codec.HeaderAETH:
			fmt.Fprintf(b, " aeth = %d,", off)
		case codec.HeaderSackETH:
			fmt.Fprintf(b, " sack = %d,", off)
		case codec.HeaderMPETH:
			fmt.Fprintf(b, " mp = %d,", off)
		}
		off += h.Len()
	}
	service, verb := op.Service(), op.Verb()
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"starts", op.Starts()},
		{"ends", op.Ends()},
		{"payload", op.Payload()},
		{"response", op.Response()},
		// acknowledgements that may carry a T/C AETH
		{"reports", (verb == codec.VerbAck || verb == codec.VerbAtomicAck) && (service == codec.RC || service == codec.XRC)},
		// requests of which the analysis needs no header but the BTH
		{"plain", op.Payload() && !op.Response() && (service == codec.RC || service == codec.UC || service == codec.XRC)},
		{"unknown_to_wireshark", op == codec.OpcodeCNP || service == codec.XRC || service == codec.IRN ||
			verb == codec.VerbFlush || verb == codec.VerbAtomicWrite},
	} {
		if flag.set {
			fmt.Fprintf(b, " %s = true,", flag.name)
		}
	}
	fmt.Fprintf(b, " headers = { %s } },\n", strings.Join(headers, ", "))
}

// writeEnumerations renders what values mean.
func writeEnumerations(b *bytes.Buffer) {
	b.WriteString("\n-- What values mean.\nlocal NAK_CODES = {")
	for code := range 5 {
		name := (codec.SyndromePSNSequenceError + codec.Syndrome(code)).String()
		fmt.Fprintf(b, " [%d] = %q,", code, strings.TrimPrefix(name, "NAK "))
	}
	b.WriteString(" }\nlocal CREDITS = {")
	for code := range 32 {
		if n, ok := codec.Syndrome(code).Credits(); ok {
			fmt.Fprintf(b, " [%d] = %d,", code, n)
		}
	}
	b.WriteString(" }\nlocal RNR_TIMERS = { -- ms\n ")
	for code := range 32 {
		s := codec.Syndrome(codec.KindRNRNAK)<<5 | codec.Syndrome(code)
		fmt.Fprintf(b, " [%d] = %s,", code, strconv.FormatFloat(float64(s.RNRTimer().Microseconds())/1000, 'f', -1, 64))
	}
	fmt.Fprintf(b, "\n}\nlocal CM_CLASS = %#02x\nlocal CM_MESSAGES = {", codec.ClassCM)
	for _, h := range []struct {
		attribute codec.Attribute
		header    codec.Header
	}{
		{codec.AttributeREQ, codec.HeaderREQ}, {codec.AttributeREJ, codec.HeaderREJ}, {codec.AttributeREP, codec.HeaderREP},
		{codec.AttributeRTU, codec.HeaderRTU}, {codec.AttributeDREQ, codec.HeaderDREQ}, {codec.AttributeDREP, codec.HeaderDREP},
	} {
		fmt.Fprintf(b, " [%#02x] = %q,", uint16(h.attribute), h.header.Key())
	}
	fmt.Fprintf(b, " }\nlocal RATE_MAGIC, RATE_VERSION = %#x, %d\n", uint32(codec.RateMagic), codec.RateVersion)
	b.WriteString("local VALUES = {\n  [\"rdma.bth.opcode\"] = {")
	for i := range 256 {
		if op := codec.Opcode(i); op.Known() {
			fmt.Fprintf(b, " [%#02x] = %q,", i, op.String())
		}
	}
	b.WriteString(" },\n  [\"rdma.mad.attributeid\"] = {")
	for a := codec.AttributeREQ; a <= codec.AttributeSIDRREP; a++ {
		fmt.Fprintf(b, " [%#02x] = %q,", uint16(a), a.String())
	}
	b.WriteString(" },\n  [\"rdma.req.pppmtu\"] = {")
	for code := uint8(1); code <= 5; code++ {
		fmt.Fprintf(b, " [%d] = \"%d bytes\",", code, codec.MTU(code))
	}
	b.WriteString(" },\n}\n")
}
