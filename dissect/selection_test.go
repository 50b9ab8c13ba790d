package dissect

import (
	"net/netip"
	"testing"
)

func located(t *testing.T, link LinkType, data []byte) *Packet {
	t.Helper()
	var p Packet
	if (&Locator{}).Locate(&Frame{Data: data, WireLen: len(data), Time: 1000, Link: link}, &p) != Found {
		t.Fatal("no packet")
	}
	return &p
}

func host(t *testing.T, s string) []Host {
	t.Helper()
	h, err := ParseHost(s)
	if err != nil {
		t.Fatal(err)
	}
	return []Host{h}
}

// The packets of the builders go to QP 0x111 at time 1000.
func TestSelectionTakes(t *testing.T) {
	p := located(t, LinkEthernet, ethernet("0800", rocev2over4()))
	ib := located(t, LinkInfiniBand, infinibandGRH())
	ip := func(s string) Address { return AddressFromIP(netip.MustParseAddr(s)) }
	pair := func(a, b string, qpn QPN) *Report {
		return &Report{Connections: []Connection{
			{B: &End{ip(b), 5}}, // half a connection tells no pair
			{A: &End{ip(a), qpn}, B: &End{ip(b), 0x111}},
		}}
	}
	learned := func(qpn QPN, r *Report) Selection {
		s := Selection{QPNs: []QPN{qpn}}
		s.Learn(r)
		return s
	}
	before, at, after := Time(999), Time(1000), Time(1001)
	for _, c := range []struct {
		name string
		s    Selection
		p    *Packet
		want bool
	}{
		{"everything", Selection{}, p, true},
		{"its QPN", Selection{QPNs: []QPN{7, 0x111}}, p, true},
		{"another QPN", Selection{QPNs: []QPN{0x222}}, p, false},
		{"the sender's QPN, learned", learned(0x222, pair("192.0.2.1", "192.0.2.2", 0x222)), p, true},
		{"of the end that asked", learned(0x222, pair("192.0.2.2", "192.0.2.1", 0x222)), p, false},
		{"a pair of others", learned(0x222, pair("192.0.2.1", "192.0.2.2", 0x333)), p, false},
		{"the same QPN at another host", learned(0x222, pair("192.0.2.1", "192.0.2.3", 0x222)), p, false},
		{"half a connection", learned(5, pair("192.0.2.1", "192.0.2.2", 0x222)), p, false},
		{"its sender", Selection{Hosts: host(t, "192.0.2.1")}, p, true},
		{"its receiver", Selection{Hosts: host(t, "192.0.2.2")}, p, true},
		{"another host", Selection{Hosts: host(t, "192.0.2.3")}, p, false},
		{"a LID", Selection{Hosts: host(t, "lid:8")}, ib, true},
		{"another LID", Selection{Hosts: host(t, "lid:9")}, ib, false},
		{"a GID", Selection{Hosts: host(t, "2001:db8::2")}, ib, true},
		{"from then", Selection{From: &at}, p, true},
		{"from later", Selection{From: &after}, p, false},
		{"to then", Selection{To: &at}, p, false},
		{"to later", Selection{To: &after}, p, true},
		{"all", Selection{QPNs: []QPN{0x111}, Hosts: host(t, "192.0.2.0/24"), From: &before, To: &after}, p, true},
		{"all but one", Selection{QPNs: []QPN{0x112}, Hosts: host(t, "192.0.2.0/24"), From: &before, To: &after}, p, false},
	} {
		if got := c.s.Takes(c.p); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if n := testing.AllocsPerRun(10, func() { c.s.Takes(c.p) }); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}
