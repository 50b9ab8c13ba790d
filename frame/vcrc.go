package frame

// vcrcTable is for the polynomial x^16 + x^12 + x^3 + x + 1, reflected.
var vcrcTable = func() (table [256]uint16) {
	for i := range table {
		v := uint16(i)
		for range 8 {
			if v&1 != 0 {
				v = v>>1 ^ 0xd008
			} else {
				v >>= 1
			}
		}
		table[i] = v
	}
	return table
}()

// vcrc is the variant CRC of an InfiniBand link packet (IBA 7.8.2), which
// covers everything from the LRH to the ICRC. The result is in the order in
// which be stores it.
func vcrc(b []byte) uint16 {
	crc := uint16(0xffff)
	for _, v := range b {
		crc = crc>>8 ^ vcrcTable[byte(crc)^v]
	}
	crc = ^crc
	return crc<<8 | crc>>8
}
