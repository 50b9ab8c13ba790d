package dissect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
)

// tellPaths tells a story whose words end in ".1", the path, which is source port
// 49153 then; behind that "e" is an ACK that echoes a CE mark, "r" one that echoes
// a resend. Without an ending the path is 0.
func tellPaths(t *testing.T, text string) *Report {
	t.Helper()
	s := newStory(Config{})
	for _, word := range strings.Fields(text) {
		word, ending, _ := strings.Cut(word, ".")
		frame := slices.Clone(s.frame(word, 1))
		path, _ := strconv.Atoi(strings.TrimRight(ending, "er"))
		frame[34], frame[35] = 0xc0, byte(path)
		const mpeth = 14 + 20 + 8 + 12 + 4
		if strings.HasSuffix(ending, "e") {
			frame[mpeth] |= 0x80
		}
		if strings.HasSuffix(ending, "r") {
			frame[mpeth] |= 0x40
		}
		icrc, err := codec.ICRC(codec.RoCEv2IPv4, frame[14:len(frame)-4], 28)
		if err != nil {
			t.Fatal(err)
		}
		s.pass(codec.AppendICRC(frame[:len(frame)-4], icrc), 1000)
	}
	return s.end()
}

// words are those of a format for numbers from first to last.
func words(format string, first, last int) string {
	var b strings.Builder
	for n := first; n <= last; n++ {
		fmt.Fprintf(&b, " "+format, n)
	}
	return b.String()
}

// What mp_rdma says, worked by hand. A path's RTT is from a packet to its ACK, a
// microsecond a word, of what was sent once; slow are ACKs below the highest acknowledged PSN less 32;
// out of order is how far an arrival is beyond the lowest missing PSN.
func TestMPRDMAStories(t *testing.T) {
	for _, c := range []struct {
		name, story, want, mp string
	}{
		{"an ACK 33 behind the newest", "w1.1" + words("w%d", 2, 34) + " A2:0" + " A3:0.0e" + words("A%d:0", 4, 34) + " A1:34.1",
			"packets 34; finding slow-path",
			"[{49153 1 1 0 67000 1} {49152 33 33 1 33000 0}] out of order 0 peak 0 early 0"},
		{"an ACK 32 behind the newest", "w1.1" + words("w%d", 2, 33) + words("A%d:0", 2, 33) + " A1:33.1",
			"packets 33; ",
			"[{49153 1 1 0 65000 0} {49152 32 32 0 32000 0}] out of order 0 peak 0 early 0"},
		{"65 is the last of 64 slots from 2 on", "w1 A1:1" + inTurn(3, 65) + " w2~ A2:65.0r",
			"packets 65; lost 1 [2]; resent 1 early:1 needed:1; gap 2 observed upstream retransmitted",
			"[{49152 65 65 0 1000 0}] out of order 63 peak 64 early 0"},
		{"66 is one too many, and sent again for that", "w1 A1:1" + inTurn(3, 65) + " w66 N2:1 w2~ A2:65.0r w66~ A66:66.0r",
			"packets 67; lost 1 [2]; resent 2 mp-nack:2 needed:1 wasted:1; gap 2 observed+mp-nack upstream retransmitted; finding bitmap-overflow",
			"[{49152 67 66 0 1000 0}] out of order 64 peak 65 early 0"},
		{"2 was late, on another path, and not sent again", "w1 A1:1" + inTurn(3, 65) + " w66 N2:1 w2.1 A2:65.1 w66~ A66:66.0r",
			"packets 67; reordered 1; resent 1 mp-nack:1 wasted:1; finding bitmap-overflow; finding slow-path",
			"[{49152 66 65 0 1000 0} {49153 1 1 0 1000 1}] out of order 64 peak 65 early 0"},
		{"the sender is told of 2, which comes first", "w1 w2.1" + words("w%d", 3, 66) + " A1:1" + words("A%d:1", 3, 65) + " N2:1 w2~ A2:65.1 A2:65.0r",
			"packets 67; reordered 1; resent 1 mp-nack:1 redundant:1; finding bitmap-overflow; finding slow-path",
			"[{49152 66 65 0 66000 0} {49153 1 1 0 0 1}] out of order 0 peak 0 early 0"},
		{"the sender is told of 2, which never comes", "w1 w2.1" + words("w%d", 3, 66) + " A1:1" + words("A%d:1", 3, 65) + " N2:1 w2~ A2:65.0r",
			"packets 67; lost 1 [2]; resent 1 mp-nack:1 needed:1; gap 2 mp-nack downstream retransmitted; finding bitmap-overflow",
			"[{49152 66 65 0 66000 0} {49153 1 0 0 0 0}] out of order 0 peak 0 early 0"},
		{"a synchronise packet overtook what came over another path", "w1 A1:1 w3^ N3:1 w2.1 A2:2.1 w3~^ A3:3.0r",
			"packets 4; reordered 1; resent 1 mp-nack:1 wasted:1; finding synchronise-early",
			"[{49152 3 2 0 1000 0} {49153 1 1 0 1000 0}] out of order 1 peak 2 early 1"},
	} {
		r := tellPaths(t, c.story)
		if got := line(requests(t, r)); got != c.want && strings.TrimSuffix(c.want, "; ") != got {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		mp := r.Connections[0].MPRDMA
		if got := fmt.Sprintf("%v out of order %d peak %d early %d", mp.Paths, mp.OutOfOrderMax, mp.BitmapPeak, mp.SynchroniseEarly); got != c.mp {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.mp)
		}
	}
}

// inTurn are packets behind a hole at 2, each with its ACK.
func inTurn(first, last int) string {
	var b strings.Builder
	for n := first; n <= last; n++ {
		fmt.Fprintf(&b, " w%d A%d:1", n, n)
	}
	return b.String()
}
