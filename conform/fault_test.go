package conform_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/conform"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// load reads the frames of a capture that ships.
func load(t *testing.T, name string) []dissect.Frame {
	t.Helper()
	rotation := capture.NewRotation([]capture.Source{{Name: filepath.Join("..", "testdata", name)}})
	part, err := rotation.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	var all []dissect.Frame
	var f dissect.Frame
	for part.Next(&f) == nil {
		g := f
		g.Data = bytes.Clone(f.Data)
		all = append(all, g)
	}
	return all
}

// check gives the violations and notes as "rule severity [frames]".
func check(frames []dissect.Frame, tap dissect.Tap) []string {
	return checkBy(conform.Config{Tap: tap}, frames)
}

// checkBy is check with what is stated.
func checkBy(config conform.Config, frames []dissect.Frame) []string {
	var out []string
	config.Found = func(v *conform.Violation) {
		out = append(out, fmt.Sprintf("%s %s %v", v.Rule, v.Severity, v.Frames))
	}
	c, tap := conform.NewChecker(config), config.Tap
	a := dissect.NewAnalyzer(dissect.Config{Follow: c.Follow, Tap: tap})
	a.OpenCapture("", "")
	for i := range frames {
		f := frames[i]
		f.Number = i + 1
		a.Frame(&f)
	}
	c.End()
	return out
}

// edit is a frame under the knife: b is its transport packet.
type edit struct {
	b  []byte
	ip []byte
}

func (e edit) opcode() codec.Opcode { return codec.Opcode(e.b[0]) }
func (e edit) psn() psn.PSN         { return psn.PSN(binary.BigEndian.Uint32(e.b[8:]) & psn.Mask) }
func (e edit) setPSN(p psn.PSN) {
	binary.BigEndian.PutUint32(e.b[8:], binary.BigEndian.Uint32(e.b[8:])&^psn.Mask|uint32(p))
}

// alter lets f change the n-th frame and makes the ICRC right again.
func alter(t *testing.T, frames []dissect.Frame, n int, f func(edit)) {
	t.Helper()
	var p dissect.Packet
	frame := &frames[n-1]
	if (&dissect.Locator{}).Locate(frame, &p) != dissect.Found {
		t.Fatalf("frame %d is no RDMA packet", n)
	}
	f(edit{p.Transport(), p.Covered})
	body := p.Covered[:p.BTH+p.WireLen-4]
	icrc, err := codec.ICRC(p.Carrier, body, p.BTH)
	if err != nil {
		t.Fatal(err)
	}
	codec.AppendICRC(body[:len(body):len(p.Covered)], icrc)
}

const (
	dropsSender   = "pcaps/rxe-nth_drops-sender.pcap.gz"
	dropsReceiver = "pcaps/rxe-nth_drops-receiver.pcap.gz"
)

// find is the number of the first frame behind after that match accepts.
func find(t *testing.T, frames []dissect.Frame, after int, match func(edit) bool) int {
	t.Helper()
	var p dissect.Packet
	for i := after; i < len(frames); i++ {
		if (&dissect.Locator{}).Locate(&frames[i], &p) == dissect.Found && match(edit{p.Transport(), p.Covered}) {
			return i + 1
		}
	}
	t.Fatal("no such frame")
	return 0
}

func isNAK(e edit) bool { return e.opcode() == 0x11 && e.b[12] == 0x60 }
func isACK(e edit) bool { return e.opcode() == 0x11 && e.b[12]>>5 == 0 }
func is(op codec.Opcode) func(edit) bool {
	return func(e edit) bool { return e.opcode() == op }
}

// Each fault breaks one rule of a correct flow, and just that rule is reported,
// with the frames that show it.
func TestFaults(t *testing.T) {
	const sender, receiver = dissect.TapSender, dissect.TapReceiver
	for name, tc := range map[string]struct {
		capture string
		tap     dissect.Tap
		fault   func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string)
	}{
		"a reserved bit": {dropsSender, "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 100, is(0x07))
			alter(t, f, n, func(e edit) { e.b[4] |= 1 })
			return f, fmt.Sprintf("reserved-bits violation [%d]", n)
		}},
		"a reserved bit that MP-RDMA uses": {dropsSender, "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 100, is(0x07))
			alter(t, f, n, func(e edit) { e.b[8] |= 0x20 })
			return f, fmt.Sprintf("reserved-bits violation [%d]", n)
		}},
		"a second NAK": {dropsReceiver, "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 0, isNAK)
			again := f[n-1]
			again.Data = bytes.Clone(again.Data)
			f = slices.Insert(f, n, again)
			alter(t, f, n+1, func(e edit) { e.ip[4]++ })
			return f, fmt.Sprintf("one-nak violation [%d %d]", n, n+1)
		}},
		"an ACK that goes back": {dropsReceiver, receiver, func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			first := find(t, f, 450, isACK)
			n := find(t, f, first, isACK)
			alter(t, f, n, func(e edit) { e.setPSN(e.psn().Add(-70)) })
			return f, fmt.Sprintf("ack-regression violation [%d %d]", first, n)
		}},
		"an ACK of what was not sent": {dropsSender, "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 500, isACK)
			last := 0
			for i := range n - 1 {
				var p dissect.Packet
				if (&dissect.Locator{}).Locate(&f[i], &p) == dissect.Found && !codec.Opcode(p.Transport()[0]).Response() {
					last = i + 1
				}
			}
			alter(t, f, n, func(e edit) { e.setPSN(e.psn().Add(500)) })
			return f, fmt.Sprintf("ack-within-window violation [%d %d]", last, n)
		}},
		"a wrong MSN": {dropsSender, "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			first := find(t, f, 500, isACK)
			n := find(t, f, first, isACK)
			alter(t, f, n, func(e edit) { e.b[15]++ })
			return f, fmt.Sprintf("msn-grows-by-completed-messages violation [%d %d]", first, n)
		}},
		"a NAK of the wrong PSN": {dropsReceiver, "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 0, isNAK)
			reveals := find(t, f, 0, func(e edit) bool { return e.psn() == 4106 })
			alter(t, f, n, func(e edit) { e.setPSN(e.psn().Add(1)) })
			return f, fmt.Sprintf("nak-names-first-missing violation [%d %d]", reveals, n)
		}},
		"a resend that begins too late": {dropsSender, "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			nak := find(t, f, 0, isNAK)
			n := find(t, f, nak, func(e edit) bool { return !e.opcode().Response() && e.psn() == 4105 })
			return slices.Delete(f, n-1, n)[:n+5], fmt.Sprintf("resend-starts-at-nak violation [%d %d]", nak, n)
		}},
		"a resend with a hole": {dropsSender, "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			nak := find(t, f, 0, isNAK)
			n := find(t, f, nak, func(e edit) bool { return !e.opcode().Response() && e.psn() == 4108 })
			return slices.Delete(f, n-1, n)[:n+5], fmt.Sprintf("resend-in-order violation [%d %d]", n-1, n)
		}},
		"a wrong PadCnt": {dropsSender, "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 100, isACK)
			alter(t, f, n, func(e edit) { e.b[1] |= 0x10 })
			return f, fmt.Sprintf("pad-count violation [%d]", n)
		}},
		"a wrong DMALen": {dropsSender, "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 500, is(0x06))
			alter(t, f, n, func(e edit) { e.b[27] ^= 4 })
			return f, fmt.Sprintf("dmalen-equals-payload violation [%d %d]", n, find(t, f, n, is(0x08)))
		}},
		"a Middle without a First": {"pcaps/rxe-send_vlan_loss2-receiver.pcap.gz", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 1000, is(0x00))
			alter(t, f, n, func(e edit) { e.b[0] = 1 })
			var q uint32
			alter(t, f, n, func(e edit) { q = binary.BigEndian.Uint32(e.b[4:]) })
			before := 0
			for i := n - 2; before == 0; i-- {
				var p dissect.Packet
				if (&dissect.Locator{}).Locate(&f[i], &p) == dissect.Found && binary.BigEndian.Uint32(p.Transport()[4:]) == q && p.Transport()[0] == 2 {
					before = i + 1
				}
			}
			return f, fmt.Sprintf("middle-last-follow-first violation [%d %d]", before, n)
		}},
		"a damaged packet at its sender": {dropsSender, sender, func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 500, is(0x07))
			f[n-1].Data[len(f[n-1].Data)-40] ^= 1
			return f, fmt.Sprintf("icrc violation [%d]", n)
		}},
		"a damaged packet elsewhere": {dropsReceiver, receiver, func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 500, is(0x07))
			f[n-1].Data[len(f[n-1].Data)-40] ^= 1
			return f, fmt.Sprintf("icrc note [%d]", n)
		}},
		"a READ that takes too little": {"cases/12-read-psn-space.pcap", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			read := find(t, f, 0, is(0x0c))
			next := find(t, f, read, func(e edit) bool { return !e.opcode().Response() })
			var at psn.PSN
			alter(t, f, read, func(e edit) { at = e.psn() })
			alter(t, f, next, func(e edit) { e.setPSN(at.Add(1)) })
			return f[:next], fmt.Sprintf("read-psn-consumption violation [%d %d]", read, next)
		}},
		"SegmentNum 5": {"cases/111-tc-trigger-count.pcap", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 40, isACK)
			alter(t, f, n, func(e edit) { e.b[18] = 5 })
			return f, fmt.Sprintf("tc-segment-num violation [%d]", n)
		}},
		"segments out of order": {"cases/110-tc-draft-example.pcap", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 0, func(e edit) bool { return isACK(e) && e.b[18] == 3 })
			alter(t, f, n, func(e edit) { // Seg1 and Seg2 change places
				for i := 22; i < 28; i++ {
					e.b[i], e.b[i+6] = e.b[i+6], e.b[i]
				}
			})
			return f, fmt.Sprintf("tc-segment-order violation [%d]", n)
		}},
		"reserved bytes of a report": {"cases/111-tc-trigger-count.pcap", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 40, isACK)
			alter(t, f, n, func(e edit) { e.b[16+24] = 1 })
			return f, fmt.Sprintf("reserved-bits violation [%d]", n)
		}},
		"an IRN packet with the DMALen of its message": {"cases/130-irn-write-two-losses.pcap", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 0, is(0xe6))
			alter(t, f, n, func(e edit) { e.b[25]++ })
			return f, fmt.Sprintf("irn-dmalen-of-each-packet violation [%d]", n)
		}},
		"an IRN NACK that names nothing above": {"cases/130-irn-write-two-losses.pcap", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 0, is(0xf1))
			alter(t, f, n, func(e edit) { copy(e.b[17:20], e.b[9:12]) })
			// And what came out of order in front of it, alone, drew no other.
			return f, fmt.Sprintf("irn-nack-names-first-missing violation [%d], irn-nack-each-arrival violation [%d]", n, n-1)
		}},
		"an IRN resend that nobody asked for": {"cases/131-irn-tail-loss-rto-low.pcap", sender, func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			// Without the second ACK the sender can know of PSN 600 alone.
			return slices.Delete(f, 4, 5)[:5], "irn-resend-only-holes violation [4 5]"
		}},
		"an MP-RDMA ACK on another path": {"cases/141-mp-reorder-no-loss.pcap", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 8, is(0xfa))
			alter(t, f, n, func(e edit) { e.ip[20] ^= 8 })
			return f, fmt.Sprintf("mp-ack-on-own-path violation [%d %d]", packetOf(t, f, n), n)
		}},
		"an MP-RDMA ACK with a wrong echo": {"cases/141-mp-reorder-no-loss.pcap", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 8, is(0xfa))
			alter(t, f, n, func(e edit) { e.b[16] ^= 0x40 })
			return f, fmt.Sprintf("mp-echoes violation [%d %d]", packetOf(t, f, n), n)
		}},
		"an MP-RDMA ACK that is missing": {"cases/141-mp-reorder-no-loss.pcap", receiver, func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 4, is(0xfa))
			at := packetOf(t, f, n)
			return slices.Delete(f, n-1, n), fmt.Sprintf("mp-one-ack-per-packet violation [%d]", at)
		}},
		"an MP-RDMA ACK too many": {"cases/141-mp-reorder-no-loss.pcap", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 8, is(0xfa))
			again := f[n-1]
			again.Data = bytes.Clone(again.Data)
			again.Time += 50_000
			f = slices.Insert(f, n, again)
			alter(t, f, n+1, func(e edit) { e.ip[4]++ })
			return f, fmt.Sprintf("mp-one-ack-per-packet violation [%d %d]", packetOf(t, f, n), n+1)
		}},
		"an MP-RDMA NACK with slots free": {"cases/141-mp-reorder-no-loss.pcap", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			// 1204 was acknowledged while 1201 was missing: there are four slots. When
			// 1205 is missing nothing behind 1206 has been sent.
			nack := f[11]
			nack.Data = bytes.Clone(nack.Data)
			nack.Time += 100
			f = slices.Insert(f, 12, nack)
			alter(t, f, 13, func(e edit) {
				e.ip[4]++
				e.b[0], e.b[12] = 0xfb, 0x60
				e.setPSN(1205)
			})
			return f, "mp-nack-reason violation [11 13]"
		}},
		"an MP-RDMA NACK of a packet that need not wait": {"cases/144-mp-synchronise-early.pcap", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			alter(t, f, 5, func(e edit) { e.b[8] &^= 0x10 })
			return f, "mp-nack-reason violation [5 6]"
		}},
		"an AACK before its own packet": {"cases/140-mp-two-paths.pcap", "", func(t *testing.T, f []dissect.Frame) ([]dissect.Frame, string) {
			n := find(t, f, 8, is(0xfa))
			alter(t, f, n, func(e edit) { copy(e.b[17:20], []byte{0, byte((e.psn() - 1) >> 8), byte(e.psn() - 1)}) })
			return f, fmt.Sprintf("mp-aack violation [%d]", n)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			frames := load(t, tc.capture)
			if got := check(frames, tc.tap); len(got) > 0 {
				t.Fatalf("before the fault: %v", got)
			}
			broken, want := tc.fault(t, frames)
			if got := check(broken, tc.tap); !slices.Equal(got, strings.Split(want, ", ")) {
				t.Errorf("got  %v\nwant [%s]", got, want)
			}
		})
	}
}

// packetOf is the request that the n-th frame acknowledges.
func packetOf(t *testing.T, f []dissect.Frame, n int) int {
	var at psn.PSN
	alter(t, f, n, func(e edit) { at = e.psn() })
	return find(t, f, 0, func(e edit) bool { return !e.opcode().Response() && e.psn() == at })
}
