package dissect

import (
	"testing"
)

// Frames as IEEE 802.3 draws them: to 01-80-c2-00-00-01, type 8808.
func TestPauseFrames(t *testing.T) {
	a := NewAnalyzer(Config{})
	a.OpenCapture("x", "pcap")
	const to = "0180c2000001 020000000001 8808"
	for i, hex := range []string{
		to + "0001 ffff", // pause
		to + "0001 0000", // go on
		to + "0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000", // priority 3
		to + "0101 0088 0000 0000 0000 0001 0000 0000 0000 0002", // priorities 3 and 7
		to + "0101 0008 0000 0000 0000 0000 0000 0000 0000 0000", // priority 3 goes on
		to + "0101 0008 0000 0000",                               // cut
		to + "0002 ffff",                                         // not flow control
		to,
	} {
		data := unhex(hex)
		a.Frame(&Frame{Data: data, WireLen: 64, Time: int64(i), Link: LinkEthernet, Number: i + 1})
	}
	got := a.Report().Totals
	if got.PauseFrames != 1 || got.PFC != [8]int64{3: 2, 7: 1} || got.Packets != 0 {
		t.Errorf("%+v", got)
	}
}
