package codec

import (
	"encoding/hex"
	"testing"
)

// Frames of real NICs, Ethernet header first, the last 4 bytes are the ICRC.
func TestICRCOfRealNICs(t *testing.T) {
	for _, tc := range []struct {
		name    string
		carrier Carrier
		bth     int // from the start of coverage
		frame   string
	}{
		{"CNP", RoCEv2IPv4, 28, "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118000000000000000000000000000000000000000082fd002a"},
		{"RoCEv1", RoCEv1, 40, "7cfe90753cd87cfe90753cd889156020000000141b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000021140ffff0000010900a788c00000000525f0c038"},
	} {
		frame, err := hex.DecodeString(tc.frame)
		if err != nil {
			t.Fatal(err)
		}
		n := len(frame) - 4
		icrc, err := ICRC(tc.carrier, frame[14:n], tc.bth)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendICRC(nil, icrc); string(got) != string(frame[n:]) {
			t.Errorf("%s: ICRC %x, the NIC sent %x", tc.name, got, frame[n:])
		}
	}
}
