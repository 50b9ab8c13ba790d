package irn

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
)

// captured is a packet of a capture, and which way it went.
type captured struct {
	transport.Packet
	at      transport.Time
	forward bool // from the requester
	frame   int
}

func (c *captured) String() string { return said(&c.Packet) }

// said is what an endpoint said, as far as it is told by what arrived.
func said(p *transport.Packet) string {
	s := fmt.Sprintf("%s %d", p.BTH.Opcode, p.BTH.PSN)
	if p.Has(codec.HeaderAETH) && p.BTH.Opcode.Verb() != codec.VerbReadResponse {
		s += fmt.Sprintf(" msn %d", p.AETH.MSN)
	}
	if p.Has(codec.HeaderSackETH) {
		s += fmt.Sprintf(" sack %d", p.SackETH.SackPSN)
	}
	return s
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
		c := captured{at: time.Duration(f.Time), frame: f.Number}
		if err := c.Decode(b, len(b)); err != nil {
			t.Fatal(err)
		}
		c.forward = c.BTH.DestQP == 0x111
		if len(all) > 0 {
			c.at -= all[0].at
		}
		all = append(all, c)
	}
}

// From the order in which requests arrive, the responder says what the captured
// one said. It is given nothing but the starting PSN.
func TestResponderOverCapture(t *testing.T) {
	for _, tc := range []struct {
		file  string
		start int
		lost  []int // frames that were lost behind the tap
	}{
		{"irn-write-two-losses.pcap", 500, nil},
		{"irn-send-irneth.pcap", 900, []int{5}},
		{"irn-nack-duplicates.pcap", 1100, []int{3}},
	} {
		t.Run(tc.file, func(t *testing.T) {
			all := readCapture(t, tc.file)
			start := all[0].BTH.PSN
			if int(start) != tc.start {
				t.Fatalf("starts at %d", start)
			}
			r := NewResponder(transport.QP{MTU: 256, StartPSN: start, RetryCount: 7}, Config{})
			var got, want []string
			all[0].at = 0
			for _, c := range all {
				if !c.forward {
					if s := c.String(); len(want) == 0 || want[len(want)-1] != s { // one was captured twice
						want = append(want, s)
					}
					continue
				}
				if slices.Contains(tc.lost, c.frame) {
					continue
				}
				r.Receive(c.at, &c.Packet)
				for r.Ready(c.at) != transport.Idle {
					var p transport.Packet
					r.Next(c.at, &p)
					got = append(got, said(&p))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("said\n%q, captured\n%q", got, want)
			}
		})
	}
}

// The same from the middle of the flow on, wherever that is, as long as nothing
// is missing there: MSN and the message that has begun are not known from the
// packets.
func TestResponderJoins(t *testing.T) {
	all := readCapture(t, "irn-send-irneth.pcap")
	var requests []captured
	for _, c := range all {
		if c.forward && c.frame != 5 {
			requests = append(requests, c)
		}
	}
	whole := NewResponder(transport.QP{MTU: 256, StartPSN: 900}, Config{})
	newest := psn.Seq(0)
	for skip := range requests {
		if s := requests[skip].BTH.PSN; int(whole.Expected) == int(s) && newest < whole.Expected {
			joined := NewResponder(transport.QP{MTU: 256, StartPSN: s, Joined: true, StartMSN: whole.exec.MSN}, Config{})
			straight := NewResponder(transport.QP{MTU: 256, StartPSN: 900}, Config{})
			for i := range requests {
				straight.Receive(0, &requests[i].Packet)
				a := drain(straight)
				if i < skip {
					continue
				}
				joined.Receive(0, &requests[i].Packet)
				b := drain(joined)
				if !slices.Equal(a, b) {
					t.Errorf("joined at %d: said %q to %v, not %q", s, b, &requests[i], a)
				}
			}
		}
		whole.Receive(0, &requests[skip].Packet)
		newest = max(newest, psn.Seq(requests[skip].BTH.PSN))
	}
}

func drain(m transport.Machine) (all []string) {
	for m.Ready(0) != transport.Idle {
		var p transport.Packet
		m.Next(0, &p)
		all = append(all, said(&p))
	}
	return all
}

// From the order in which READ responses arrive, the requester says what the
// captured one said.
func TestRequesterOverCapture(t *testing.T) {
	q := NewRequester(transport.QP{MTU: 256, StartPSN: 800, RetryCount: 7}, Config{})
	for _, w := range []transport.WorkRequest{{Verb: transport.Read, Length: 2048}, {Verb: transport.Send, Length: 64}, {Verb: transport.Read, Length: 512}} {
		if err := q.Post(w); err != nil {
			t.Fatal(err)
		}
	}
	var got, want []string
	take := func(now transport.Time) {
		for q.Ready(now) != transport.Idle {
			var p transport.Packet
			q.Next(now, &p)
			if p.BTH.Opcode.Response() {
				got = append(got, said(&p))
			}
		}
	}
	take(0)
	all := readCapture(t, "irn-read-response-loss.pcap")
	all[0].at = 0
	for _, c := range all {
		switch {
		case !c.forward:
			q.Receive(c.at, &c.Packet)
			take(c.at)
		case c.BTH.Opcode.Response():
			want = append(want, c.String())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("said\n%q, captured\n%q", got, want)
	}
	if q.queue.Len() != 0 {
		t.Errorf("%d requests are not complete", q.queue.Len())
	}
}

// From the NACKs that arrive, the requester resends what the captured one
// resent: one packet, once.
func TestSenderOverCapture(t *testing.T) {
	q := NewRequester(transport.QP{MTU: 256, StartPSN: 1100, RetryCount: 7}, Config{})
	q.Post(transport.WorkRequest{Verb: transport.Write, Length: 4096})
	var resent []string
	sent := 0
	all := readCapture(t, "irn-nack-duplicates.pcap")
	all[0].at = 0
	for _, c := range all {
		if !c.forward {
			q.Receive(c.at, &c.Packet)
			continue
		}
		var p transport.Packet
		ready := q.Ready(c.at)
		q.Next(c.at, &p)
		if said(&p) != c.String() || p.RETH.DMALen != c.RETH.DMALen || p.RETH.VA != c.RETH.VA-0x7f0000000000 {
			t.Errorf("frame %d: sent %s, captured %s", c.frame, said(&p), &c)
		}
		sent++
		if ready == transport.Resend {
			resent = append(resent, said(&p))
		}
	}
	if len(resent) != 1 || sent != 17 || q.queue.Len() != 0 {
		t.Errorf("resent %q of %d packets, %d requests left", resent, sent, q.queue.Len())
	}
}
