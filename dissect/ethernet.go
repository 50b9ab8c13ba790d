package dissect

// Ethertypes that lead on.
const (
	etherTypeIPv4          = 0x0800
	etherTypeTEB           = 0x6558 // a whole Ethernet frame, in GRE and GENEVE
	etherTypeVLAN          = 0x8100 // 802.1Q
	etherTypeIPv6          = 0x86dd
	etherTypeMACControl    = 0x8808 // pause frames
	etherTypeMPLS          = 0x8847
	etherTypeMPLSMulticast = 0x8848
	etherTypeQinQ          = 0x88a8 // 802.1ad
	etherTypeRoCEv1        = 0x8915
	etherTypeQinQOld       = 0x9100 // used for outer tags before 802.1ad
	etherTypeQinQOlder     = 0x9200
)

// etherType is the header behind an Ethertype. Values below 0x600 are lengths
// of 802.3, behind which there is no RDMA.
func etherType(t uint16) step {
	switch t {
	case etherTypeIPv4:
		return stepIPv4
	case etherTypeIPv6:
		return stepIPv6
	case etherTypeVLAN, etherTypeQinQ, etherTypeQinQOld, etherTypeQinQOlder:
		return stepVLAN
	case etherTypeMACControl:
		return stepMACControl
	case etherTypeRoCEv1:
		return stepRoCEv1
	case etherTypeMPLS, etherTypeMPLSMulticast:
		return stepMPLS
	}
	return stepNone
}

// ethernet: destination 48, source 48, type 16.
func (w *walk) ethernet() step {
	b := w.rest()
	if len(b) < 14 {
		return stepNone
	}
	w.off += 14
	return etherType(be.Uint16(b[12:]))
}

// vlan is a tag behind its type: priority 3, DEI 1, VLAN 12, next type 16.
func (w *walk) vlan() step {
	b := w.rest()
	if len(b) < 4 {
		return stepNone
	}
	w.p.VLAN = be.Uint16(b) & 0xfff
	w.off += 4
	return etherType(be.Uint16(b[2:]))
}
