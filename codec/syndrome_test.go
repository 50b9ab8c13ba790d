package codec

import (
	"testing"
	"time"
)

// The tables of IBA 9.7.7.2 (credits) and 9.7.5.2.8 (RNR NAK timers, in ms).
var (
	creditTable = []uint32{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144,
		8192, 12288, 16384, 24576, 32768}
	rnrTable = []float64{655.36, .01, .02, .03, .04, .06, .08, .12, .16, .24, .32, .48, .64, .96, 1.28, 1.92, 2.56, 3.84, 5.12, 7.68,
		10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52} // ms
)

func TestSyndromes(t *testing.T) {
	for i := range 256 {
		s := Syndrome(i)
		kind, value := Kind(i>>5&3), i&31 // bit 0 of the header is reserved
		if s.Kind() != kind || int(s.Value()) != value {
			t.Errorf("%#02x: kind %d, value %d", i, s.Kind(), s.Value())
		}
		credits, ok := s.Credits()
		switch {
		case kind == KindACK && value < 31:
			if !ok || credits != creditTable[value] {
				t.Errorf("%#02x grants %d, %v, want %d", i, credits, ok, creditTable[value])
			}
		case ok || credits != 0:
			t.Errorf("%#02x grants %d credits", i, credits)
		}
		var wait time.Duration
		if kind == KindRNRNAK {
			wait = time.Duration(rnrTable[value]*1000+0.5) * time.Microsecond
		}
		if s.RNRTimer() != wait {
			t.Errorf("%#02x waits %v, want %v", i, s.RNRTimer(), wait)
		}
		if s.IsSequenceNAK() != (i == 0x60 || i == 0xe0) {
			t.Errorf("%#02x: a sequence NAK is %v", i, s.IsSequenceNAK())
		}
	}
}

func TestSyndromeStrings(t *testing.T) {
	for s, want := range map[Syndrome]string{
		SyndromeACK:               "ACK",
		0x00:                      "ACK, 0 credits",
		0x08:                      "ACK, 16 credits",
		0x2e:                      "RNR NAK, 1.28ms",
		0x20:                      "RNR NAK, 655.36ms",
		SyndromePSNSequenceError:  "NAK PSN sequence error",
		SyndromeInvalidRequest:    "NAK invalid request",
		SyndromeRemoteAccess:      "NAK remote access error",
		SyndromeRemoteOperational: "NAK remote operational error",
		SyndromeInvalidRDRequest:  "NAK invalid RD request",
		0x65:                      "NAK code 5",
		0x7f:                      "NAK code 31",
		0x40:                      "reserved syndrome 0x40",
		0xe0:                      "NAK PSN sequence error",
	} {
		if got := s.String(); got != want {
			t.Errorf("%#02x is %q, want %q", uint8(s), got, want)
		}
	}
}

func TestTimeoutCodes(t *testing.T) {
	for code, want := range map[uint8]time.Duration{
		0:  0,
		1:  8192 * time.Nanosecond,
		14: 67108864 * time.Nanosecond, // the usual one
		31: 8796093022208 * time.Nanosecond,
	} {
		if got := AckTimeout(code); got != want {
			t.Errorf("code %d is %v, want %v", code, got, want)
		}
	}
	for code, want := range []int{0, 256, 512, 1024, 2048, 4096, 0, 0} {
		if got := MTU(uint8(code)); got != want {
			t.Errorf("MTU code %d is %d, want %d", code, got, want)
		}
	}
}

// The code is the next longer time (IBA table of RNR NAK timers).
func TestRNRNAK(t *testing.T) {
	for _, tc := range []struct {
		d    time.Duration
		want Syndrome
	}{
		{0, 0x21}, {10 * time.Microsecond, 0x21}, {10*time.Microsecond + 1, 0x22}, {50 * time.Microsecond, 0x25},
		{1280 * time.Microsecond, 0x2e}, {491520 * time.Microsecond, 0x3f}, {491521 * time.Microsecond, 0x20}, {time.Hour, 0x20},
	} {
		if got := RNRNAK(tc.d); got != tc.want {
			t.Errorf("RNRNAK(%v) = %#02x, want %#02x", tc.d, uint8(got), uint8(tc.want))
		}
	}
}
