package layers_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rdmadump/rdmadump/codec"
	rdmalayers "github.com/rdmadump/rdmadump/layers"
)

// Frames that real adapters sent, a CNP and a RoCEv1 SEND.
var adapterFrames = []string{
	"e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118000000000000000000000000000000000000000082fd002a",
	"7cfe90753cd87cfe90753cd889156020000000141b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000021140ffff0000010900a788c00000000525f0c038",
}

func TestFixICRC(t *testing.T) {
	for _, s := range adapterFrames {
		want := fromHex(t, s)
		// Padding and a frame check sequence behind the packet stay as they are.
		for _, trailer := range []string{"", "\x00\x00\x00\x00\x00", "\xde\xad\xbe\xef"} {
			got := append(bytes.Clone(want), trailer...)
			copy(got[len(want)-4:], "\xaa\xaa\xaa\xaa")
			if err := rdmalayers.FixICRC(got); err != nil || !bytes.Equal(got, append(bytes.Clone(want), trailer...)) {
				t.Errorf("%v\n got %x\nwant %x", err, got, want)
			}
		}
	}
}

// Captures whose ICRCs the kernel wrote stay as they are.
func TestFixICRCCaptures(t *testing.T) {
	for name, frames := range shipped(t) {
		same, all := 0, 0
		for _, f := range frames {
			b := bytes.Clone(f.data)
			if rdmalayers.FixICRC(b) != nil {
				continue
			}
			all++
			if bytes.Equal(b, f.data) {
				same++
			} else if name != "rxe-corrupt_icrc-receiver.pcap.gz" {
				t.Errorf("%s: ICRC changed in\n%x to\n%x", name, f.data, b)
			}
		}
		if all == 0 || same < all*9/10 {
			t.Errorf("%s: ICRC of %d of %d packets unchanged", name, same, all)
		}
	}
}

// The UDP checksum of the patched frame is the one that gopacket computes of
// it, whether the ICRC begins at an even byte of the datagram or an odd one.
func TestFixICRCCarriesChecksum(t *testing.T) {
	compute := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	for n := range 40 {
		eth := &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv6}
		ip := &layers.IPv6{Version: 6, NextHeader: layers.IPProtocolUDP, HopLimit: 1, SrcIP: make([]byte, 16), DstIP: make([]byte, 16)}
		udp := &layers.UDP{SrcPort: 49152, DstPort: rdmalayers.UDPPortRoCEv2}
		_ = udp.SetNetworkLayerForChecksum(ip)
		b := transport(0x04, 0, n)
		buf := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(buf, compute, eth, ip, udp, gopacket.Payload(b)); err != nil {
			t.Fatal(err)
		}
		frame := bytes.Clone(buf.Bytes())
		if err := rdmalayers.FixICRC(frame); err != nil {
			t.Fatal(err)
		}
		if err := gopacket.SerializeLayers(buf, compute, eth, ip, udp, gopacket.Payload(frame[62:])); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(frame, buf.Bytes()) {
			t.Errorf("payload of %d bytes: UDP checksum %x, want %x", n, frame[60:62], buf.Bytes()[60:62])
		}
	}
}

func TestFixICRCRefuses(t *testing.T) {
	whole := fromHex(t, adapterFrames[0])
	for n := range whole {
		err := rdmalayers.FixICRC(whole[:n])
		want := codec.ErrTruncated
		if n < 42+12 {
			want = rdmalayers.ErrNotRDMA
		}
		if !errors.Is(err, want) {
			t.Errorf("%d bytes: %v, want %v", n, err, want)
		}
	}
	if got, want := rdmalayers.FixICRC(nil).Error(), "ICRC: not an RDMA packet"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}
