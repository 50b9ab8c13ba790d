package mprdma

import (
	"slices"
	"testing"
	"time"

	"github.com/rdmadump/rdmadump/psn"
	"github.com/rdmadump/rdmadump/transport"
	"github.com/rdmadump/rdmadump/transport/transporttest"
)

// lose loses the first copies of some PSNs on their way forward, so many of each.
func lose(copies map[psn.PSN]int) func(*transporttest.Copy) bool {
	return func(c *transporttest.Copy) bool {
		return c.Dir == transporttest.Forward && c.N <= copies[c.Packet.BTH.PSN]
	}
}

// What is lost again in recovery, when nothing is left to be clocked out, is what
// is unacknowledged for an RTT with window left and nothing new that may leave
// (FUSO): it goes after an RTT, once half of one has passed without an
// acknowledgement, and does not wait for the timer of 500 us.
func TestLostInRecovery(t *testing.T) {
	for _, tc := range []struct {
		name   string
		copies map[psn.PSN]int
		last   psn.PSN // which copy of which packet ends it
	}{
		{"the packet that the NACK named", map[psn.PSN]int{603: 2}, 603},
		{"a packet that snd_retx has passed", map[psn.PSN]int{603: 1, 631: 2}, 631},
		{"several, three times", map[psn.PSN]int{603: 3, 620: 3, 639: 3}, 603},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := transporttest.NewWorkload(storyQP, write(40))
			l := story(lose(tc.copies))
			at := map[psn.PSN][]time.Duration{}
			l.Sent = func(c *transporttest.Copy) error {
				if c.Dir == transporttest.Forward {
					at[c.Packet.BTH.PSN] = append(at[c.Packet.BTH.PSN], c.At)
				}
				return nil
			}
			o := must(t, w, l, Config{Window: 32, Slots: 16, RTT: 20 * us})
			copies := at[tc.last]
			for i := 2; i < len(copies); i++ {
				// The round trip is 10 us, and is taken for 20 us at first.
				if d := copies[i] - copies[i-1]; d < 10*us || d > 30*us+100*10 {
					t.Errorf("copy %d of %d goes %v after the one before", i+1, tc.last, d)
				}
			}
			if want := tc.copies[tc.last] + 1; o.nacks == 0 || o.spent > 0 || len(copies) != want {
				t.Errorf("%d NACKs, %d timeouts; %d copies of %d, want %d", o.nacks, o.spent, len(copies), tc.last, want)
			}
		})
	}
}

// An acknowledgement that moves snd_una takes the distance off inflate, also for
// packets whose own acknowledgements are lost. Each of these that comes late lets
// one leave; what never comes does not narrow the window for good: after four RTTs
// as many packets are in flight as the window allows.
func TestLostAcks(t *testing.T) {
	begin := func() (*Requester, []transport.Packet) {
		q := NewRequester(storyQP, Config{RTT: 20 * us, Probe: -1})
		if err := q.Post(transport.WorkRequest{Verb: transport.Write, Length: 1000 * 256}); err != nil {
			t.Fatal(err)
		}
		return q, pull(q, 0)
	}
	q, all := begin()
	hear(q, 10*us, &all[3], 603, false)
	// 16 + (1 - 4) - 12 = 1
	if n := len(pull(q, 10*us)); len(all) != 16 || n != 1 {
		t.Fatalf("%d packets, then %d", len(all), n)
	}
	for i, want := range []int{1, 1, 1, 0, 0} { // the fifth comes twice
		hear(q, 11*us, &all[[]int{1, 0, 2, 2, 3}[i]], 603, false)
		if n := len(pull(q, 11*us)); n != want {
			t.Errorf("late acknowledgement %d releases %d packets, want %d", i, n, want)
		}
	}
	q, all = begin()
	hear(q, 10*us, &all[3], 603, false)
	n := len(pull(q, 10*us))
	for now := q.Wake(); now <= 10*us+4*q.rtt; now = q.Wake() {
		n += len(pull(q, now))
	}
	if n != 4 {
		t.Errorf("%d packets follow the 4 that were acknowledged", n)
	}
}

// With acknowledgements that keep coming the window is whole again some RTTs after
// others were lost.
func TestLostAcksAge(t *testing.T) {
	q := NewRequester(storyQP, Config{RTT: 10 * us, Probe: -1})
	if err := q.Post(transport.WorkRequest{Verb: transport.Write, Length: 4000 * 256}); err != nil {
		t.Fatal(err)
	}
	var sent []transport.Packet
	now, lost := transport.Time(0), 0
	for i := range 400 {
		sent = append(sent, pull(q, now)...)
		if i >= len(sent) {
			t.Fatalf("nothing is in flight after %d acknowledgements", i)
		}
		now += us
		if i < 100 && i%10 < 4 {
			lost++
			continue
		}
		hear(q, now, &sent[i], 600+i, false)
	}
	sent = append(sent, pull(q, now)...)
	// In flight is what cwnd allows, to the packet.
	if got, want := len(sent)-400, int(q.Window()); got != want || lost != 40 {
		t.Errorf("%d in flight, the window is %d", got, want)
	}
}

// An acknowledgement counts once for each packet, so that copies which were not
// needed let no more packets into the network than the window.
func TestAckedTwice(t *testing.T) {
	q := NewRequester(storyQP, Config{RTT: 20 * us, Probe: -1})
	if err := q.Post(transport.WorkRequest{Verb: transport.Write, Length: 1000 * 256}); err != nil {
		t.Fatal(err)
	}
	all := pull(q, 0)
	released := []int{}
	for range 3 {
		hear(q, 10*us, &all[5], 599, false)
		released = append(released, len(pull(q, 10*us)))
	}
	if !slices.Equal(released, []int{1, 0, 0}) {
		t.Errorf("acknowledgements of one packet release %v packets", released)
	}
}
