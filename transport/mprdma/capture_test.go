package mprdma

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// captured is a packet of a capture, and which way it went.
type captured struct {
	transport.Packet
	at      transport.Time
	forward bool // from the requester
}

// says is what an acknowledgement says.
func says(p *transport.Packet) string {
	return fmt.Sprintf("%s %d path %d msn %d %+v", p.BTH.Opcode, p.BTH.PSN, p.Path, p.AETH.MSN, p.MPETH)
}

// readCapture reads a capture of Ethernet, IPv4 and UDP. Requests go to 0x111.
func readCapture(t *testing.T, name string) []captured {
	t.Helper()
	r, err := capture.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []captured
	for {
		var f dissect.Frame
		if err := r.Next(&f); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		b := slices.Clone(f.Data[42:])
		c := captured{at: time.Duration(f.Time)}
		if err := c.Decode(b, len(b)); err != nil {
			t.Fatal(err)
		}
		c.Path, c.CE = binary.BigEndian.Uint16(f.Data[34:]), f.Data[15]&3 == 3
		c.forward = c.BTH.DestQP == 0x111
		all = append(all, c)
	}
}

var captures = []struct {
	file  string
	start psn.PSN
	mtu   int
}{
	{"mp-two-paths.pcap", 1100, 256},
	{"mp-reorder-no-loss.pcap", 1200, 256},
	{"mp-loss-bitmap-overflow-nack.pcap", 1300, 256},
	{"mp-synchronise-early.pcap", 1400, 256},
}

// From the order in which packets arrive, the responder says what the captured
// one said.
func TestResponderOverCapture(t *testing.T) {
	for _, tc := range captures {
		t.Run(tc.file, func(t *testing.T) {
			r := NewResponder(transport.QP{MTU: tc.mtu, StartPSN: tc.start}, Config{})
			var got, want []string
			for _, c := range readCapture(t, tc.file) {
				if c.forward {
					r.Receive(c.at, &c.Packet)
					got = append(got, drain(r)...)
				} else {
					want = append(want, says(&c.Packet))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("said\n%q, captured\n%q", got, want)
			}
		})
	}
}

// The same from the middle of the flow on, at each place where nothing is
// missing.
func TestResponderJoins(t *testing.T) {
	for _, tc := range captures {
		var requests []captured
		for _, c := range readCapture(t, tc.file) {
			if c.forward {
				requests = append(requests, c)
			}
		}
		whole := NewResponder(transport.QP{MTU: tc.mtu, StartPSN: tc.start}, Config{})
		newest, joins := psn.Seq(0), 0
		for skip := range requests {
			if s := requests[skip].BTH.PSN; psn.Seq(s) == whole.Head && newest < whole.Head {
				joins++
				joined := NewResponder(transport.QP{MTU: tc.mtu, StartPSN: s, Joined: true, StartMSN: whole.exec.MSN}, Config{})
				straight := NewResponder(transport.QP{MTU: tc.mtu, StartPSN: tc.start}, Config{})
				for i := range requests {
					straight.Receive(0, &requests[i].Packet)
					a := drain(straight)
					if i < skip {
						continue
					}
					joined.Receive(0, &requests[i].Packet)
					if b := drain(joined); !slices.Equal(a, b) {
						t.Errorf("%s, joined at %d: said %q to %d, not %q", tc.file, s, b, requests[i].BTH.PSN, a)
					}
				}
			}
			whole.Receive(0, &requests[skip].Packet)
			newest = max(newest, psn.Seq(requests[skip].BTH.PSN))
		}
		if joins == 0 {
			t.Errorf("%s: joined nowhere", tc.file)
		}
	}
}

func drain(m transport.Machine) (all []string) {
	for m.Ready(0) != transport.Idle {
		var p transport.Packet
		m.Next(0, &p)
		all = append(all, says(&p))
	}
	return all
}
