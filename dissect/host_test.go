package dissect

import (
	"net/netip"
	"testing"
)

func TestHost(t *testing.T) {
	ip := func(s string) Address { return AddressFromIP(netip.MustParseAddr(s)) }
	for _, c := range []struct {
		host   string
		text   string // "" if it is the same
		has    []Address
		hasNot []Address
	}{
		{"192.0.2.1", "", []Address{ip("192.0.2.1"), ip("::ffff:192.0.2.1")}, []Address{ip("192.0.2.2"), ip("::192.0.2.1"), ip("c000:201::"), {}, AddressFromLID(1)}},
		{"192.0.2.130/25", "192.0.2.128/25", []Address{ip("192.0.2.128"), ip("192.0.2.255")}, []Address{ip("192.0.2.127"), ip("192.0.3.128")}},
		{"0.0.0.0/0", "", []Address{ip("1.2.3.4")}, []Address{ip("2001:db8::1"), AddressFromLID(4), {}}},
		{"192.0.2.1/32", "192.0.2.1", []Address{ip("192.0.2.1")}, []Address{ip("192.0.2.0")}},
		{"2001:db8::1", "", []Address{ip("2001:db8::1")}, []Address{ip("2001:db8::2"), ip("2001:db9::1"), {}}},
		{"2001:db8::/32", "", []Address{ip("2001:db8:ffff::9")}, []Address{ip("2001:db9::")}},
		{"2001:db8:0:0:8000::/65", "2001:db8:0:0:8000::/65", []Address{ip("2001:db8::8000:0:0:1")}, []Address{ip("2001:db8::7fff:0:0:1")}},
		{"2001:db8::/64", "", []Address{ip("2001:db8::ffff:0:0:1")}, []Address{ip("2001:db8:0:1::1")}},
		{"::/0", "", []Address{ip("2001:db8::1"), ip("::")}, []Address{ip("192.0.2.1"), {}}},
		{"::ffff:192.0.2.1", "192.0.2.1", []Address{ip("192.0.2.1"), ip("::ffff:192.0.2.1")}, []Address{ip("192.0.2.2")}},
		{"fe80::1%eth0", "fe80::1", []Address{ip("fe80::1")}, nil},
		{"lid:4", "", []Address{AddressFromLID(4)}, []Address{AddressFromLID(5), ip("0.0.0.4"), ip("::4"), {}}},
		{"lid:0x1f", "lid:31", []Address{AddressFromLID(31)}, nil},
	} {
		h, err := ParseHost(c.host)
		if err != nil {
			t.Errorf("%s: %v", c.host, err)
			continue
		}
		want := c.text
		if want == "" {
			want = c.host
		}
		if got := h.String(); got != want {
			t.Errorf("%s is written %s, want %s", c.host, got, want)
		}
		for _, a := range c.has {
			if !h.Has(a) {
				t.Errorf("%s has not %v", c.host, a)
			}
		}
		for _, a := range c.hasNot {
			if h.Has(a) {
				t.Errorf("%s has %v", c.host, a)
			}
		}
	}
	for _, s := range []string{"", "host", "192.0.2", "192.0.2.1/33", "192.0.2.1/", "2001:db8::/129", "lid:", "lid:x", "lid:65536", "lid:-1", "lid:4/8", "192.0.2.1:4791"} {
		if h, err := ParseHost(s); err == nil {
			t.Errorf("%q is taken for %v", s, h)
		}
	}
}
