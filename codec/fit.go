package codec

// Fits reports whether a packet with this BTH can be n bytes long on the wire,
// from the BTH up to and with the ICRC: whether the headers of its opcode, the
// pad and the ICRC have room, payload stands only where the operation has it,
// and payload and pad fill whole 4-byte words (IBA 9.2.3). An acknowledgement
// of RC or XRC may have a T/C AETH of either length. Of an opcode that is not
// known no more than BTH and ICRC is asked.
func (h *BTH) Fits(n int) bool {
	info := &opcodes[h.Opcode]
	left := n - icrcLen - info.len
	switch {
	case h.Opcode == OpcodeCNP:
		return left == 0 // whatever PadCnt says
	case !info.known:
		return left >= 0
	case info.place&payload != 0:
		return left >= int(h.PadCnt) && left%4 == 0
	}
	left -= int(h.PadCnt)
	return left == 0 || info.reports && (left == tcaethShort || left == HeaderTCAETH.Len())
}
