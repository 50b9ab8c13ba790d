package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendLine appends the JSON form of v and a newline. Whatever a name from
// outside holds, the line does nothing to a terminal but show itself: JSON would
// allow some control characters as they are. The error is that of
// json.Marshal.
func AppendLine(b []byte, v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return b, err
	}
	for rest := out.Bytes(); len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == '\n' || strconv.IsPrint(r) {
			b = append(b, rest[:n]...)
		} else { // in a string, since JSON is ASCII elsewhere
			for _, unit := range utf16.Encode([]rune{r}) {
				b = fmt.Appendf(b, "\\u%04x", unit)
			}
		}
		rest = rest[n:]
	}
	return b, nil
}

// appendString appends s as a JSON string. Text that needs no escaping, which
// is nearly all, costs nothing but the copy.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			quoted, _ := json.Marshal(s) // a string always has a JSON form
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// appendTime appends nanoseconds since 1970 as "1700000000.000001000".
func appendTime(b []byte, ns int64) []byte {
	sec, frac := ns/1e9, ns%1e9
	if frac < 0 {
		sec, frac = sec-1, frac+1e9
	}
	b = append(b, '"')
	b = strconv.AppendInt(b, sec, 10)
	b = append(b, '.')
	b = appendPadded(b, uint64(frac), 10, 9)
	return append(b, '"')
}

// appendHex64 appends v as "0x00007f0000001000".
func appendHex64(b []byte, v uint64) []byte {
	b = append(b, `"0x`...)
	b = appendPadded(b, v, 16, 16)
	return append(b, '"')
}

// appendPadded appends v with leading zeros up to width digits.
func appendPadded(b []byte, v uint64, base, width int) []byte {
	var digits [64]byte
	d := strconv.AppendUint(digits[:0], v, base)
	for range width - len(d) {
		b = append(b, '0')
	}
	return append(b, d...)
}

const hexDigits = "0123456789abcdef"

// appendHex appends bytes as a string of hexadecimal digits.
func appendHex(b, data []byte) []byte {
	b = append(b, '"')
	for _, c := range data {
		b = append(b, hexDigits[c>>4], hexDigits[c&15])
	}
	return append(b, '"')
}
