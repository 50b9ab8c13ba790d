package layers

import (
	"encoding/binary"
	"fmt"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// FixICRC computes the ICRC of the RDMA packet in a finished Ethernet frame and
// writes it in its place; every carrier and tunnel that dissect.Locator follows
// will do. A UDP checksum that is not 0 is carried along: it
// stays as right or wrong as it was. Those of tunnels around it do not follow.
//
// It returns ErrNotRDMA when the frame's headers lead to no RDMA packet, and
// codec.ErrTruncated when the frame ends before the ICRC does.
func FixICRC(frame []byte) error {
	f := dissect.Frame{Data: frame, WireLen: len(frame), Link: dissect.LinkEthernet}
	var p dissect.Packet
	if new(dissect.Locator).Locate(&f, &p) != dissect.Found {
		return fmt.Errorf("ICRC: %w", ErrNotRDMA)
	}
	end := p.BTH + p.WireLen - icrcLen
	if end < p.BTH+codec.HeaderBTH.Len() || len(p.Covered) < end+icrcLen {
		return fmt.Errorf("ICRC: %w: the packet has %d of %d bytes", codec.ErrTruncated, len(p.Covered)-p.BTH, p.WireLen)
	}
	icrc, err := codec.ICRC(p.Carrier, p.Covered[:end], p.BTH)
	if err != nil {
		return err
	}
	var fixed [icrcLen]byte
	codec.AppendICRC(fixed[:0], icrc)
	if p.Carrier == codec.RoCEv2IPv4 || p.Carrier == codec.RoCEv2IPv6 {
		fixUDPChecksum(p.Covered[p.BTH-8:], end-p.BTH+8, fixed)
	}
	copy(p.Covered[end:], fixed[:])
	return nil
}

// fixUDPChecksum follows a change of the 4 bytes at off in a UDP datagram (RFC
// 1624). They may begin at an odd byte, where no word of the sum does.
func fixUDPChecksum(datagram []byte, off int, to [icrcLen]byte) {
	checksum := datagram[6:8]
	if checksum[0]|checksum[1] == 0 {
		return // not used
	}
	sum := uint32(^binary.BigEndian.Uint16(checksum))
	for i := range to {
		old, b := uint32(^datagram[off+i]), uint32(to[i])
		if (off+i)%2 == 0 {
			sum += old<<8 + b<<8 + 0xff
		} else {
			sum += old + b + 0xff<<8
		}
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	if sum == 0xffff {
		sum = 0 // a checksum of 0 is written as ones
	}
	binary.BigEndian.PutUint16(checksum, ^uint16(sum))
}
