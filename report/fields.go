package report

import (
	"fmt"
	"strings"

	"github.com/rdmadump/rdmadump/codec"
)

// AppendFields appends the field reference as text, made from the field table: one
// field a line, which is folded where it exceeds width columns.
func AppendFields(b []byte, width int) []byte {
	p := &page{b: b, width: width}
	for i, h := range codec.Headers() {
		if i > 0 {
			p.line()
		}
		p.line(fmt.Sprintf("%s, %d bytes", h, h.Len()))
		p.wrap("  ", "  ", strings.Fields(h.Doc()))
		p.line(fmt.Sprintf("  %-6s %4s  %-24s %s", "offset", "bits", "key", "meaning"))
		for _, f := range h.Fields() {
			key := qualified(h, f)
			if f.Reserved() {
				key = "-"
			}
			first := fmt.Sprintf("  %-6s %4d  %-24s ", offset(f), f.Bits, key)
			p.wrap(first, strings.Repeat(" ", len(first)), strings.Fields(f.Doc))
		}
	}
	return p.b
}

// AppendFieldsMarkdown appends the field reference as Markdown, a table a
// header.
func AppendFieldsMarkdown(b []byte) []byte {
	b = append(b, `# Headers and fields

Made by `+"`rdmadump fields --markdown`"+` from the table that decoding is proved
against; do not edit. Offsets are byte.bit from the start of the header, bit 0
being the most significant one of its byte. Keys are those of the JSON output;
a reserved field has none but in `+"`read --json=full`"+`, where it goes by its name in
lower case. The headers from MAD on are those of management datagrams, and part of
the payload.
`...)
	for _, h := range codec.Headers() {
		b = fmt.Appendf(b, "\n## %s\n\n%s. %d bytes.\n\n| offset | bits | field | key | meaning |\n|---|---|---|---|---|\n", h, h.Doc(), h.Len())
		for _, f := range h.Fields() {
			key := "`" + qualified(h, f) + "`"
			if f.Reserved() {
				key = ""
			}
			b = fmt.Appendf(b, "| %s | %d | %s | %s | %s |\n", offset(f), f.Bits, f.Name, key, strings.ReplaceAll(f.Doc, "|", `\|`))
		}
	}
	return b
}

// offset writes a field's place as byte and bit: "0.4", and "8" at a byte's
// start.
func offset(f codec.Field) string {
	if f.Off%8 == 0 {
		return fmt.Sprint(f.Off / 8)
	}
	return fmt.Sprintf("%d.%d", f.Off/8, f.Off%8)
}

// qualified is the path of a field in the JSON output.
func qualified(h codec.Header, f codec.Field) string {
	if h == codec.HeaderImmDt {
		return h.Key() // a plain number
	}
	return h.Key() + "." + fieldKey(f)
}
