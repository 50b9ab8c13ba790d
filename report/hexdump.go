package report

// AppendDump appends data as lines of 16 bytes in hexadecimal and ASCII, each
// with its offset and with indent before it.
func AppendDump(b, data []byte, indent string) []byte {
	for off := 0; off < len(data); off += 16 {
		row := data[off:min(off+16, len(data))]
		b = append(b, indent...)
		b = appendPadded(b, uint64(off), 16, 4)
		b = append(b, ' ')
		from := len(b)
		for i, c := range row {
			if i%8 == 0 {
				b = append(b, ' ')
			}
			b = append(b, hexDigits[c>>4], hexDigits[c&15], ' ')
		}
		b = append(pad(b, from, 16*3+2), ' ')
		for _, c := range row {
			if c < ' ' || c > '~' {
				c = '.'
			}
			b = append(b, c)
		}
		b = append(b, '\n')
	}
	return b
}
