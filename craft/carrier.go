package craft

import (
	"strings"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// findCarrier goes by what is said outright, and else by what is there.
func (m *making) findCarrier() error {
	name, err := m.text("carrier", m.implied())
	if err != nil {
		return err
	}
	switch name {
	case "rocev2":
		m.carrier = codec.RoCEv2IPv4
		v, err := m.number("ip.version", 4, 0)
		switch {
		case err != nil || v != 0 && v != 4 && v != 6:
			return fault("ip.version", "%s: want 4 or 6", shown(m.get("ip.version")))
		case v == 6, v == 0 && (m.sixth("src") || m.sixth("dst") || m.sixth("ip.src") || m.sixth("ip.dst")):
			m.carrier = codec.RoCEv2IPv6
		}
	case "ipv4":
		m.carrier = codec.RoCEv2IPv4
	case "ipv6":
		m.carrier = codec.RoCEv2IPv6
	case "rocev1":
		m.carrier = codec.RoCEv1
	case "ib", "ib-grh":
		m.carrier = codec.InfiniBand
		if name == "ib-grh" || m.has("grh") || m.has("sgid") || m.has("dgid") {
			m.carrier = codec.InfiniBandGRH
		}
	default:
		return fault("carrier", "%q: want rocev2, ipv4, ipv6, rocev1, ib or ib-grh", name)
	}
	return nil
}

func (m *making) implied() string {
	switch {
	case m.has("lrh"):
		return "ib"
	case m.has("grh"):
		return "rocev1"
	}
	return "rocev2"
}

// sixth reports an IPv6 address.
func (m *making) sixth(key string) bool {
	text, _ := m.get(key).(string)
	return strings.Contains(text, ":")
}

// findLink is Ethernet for what lies on it.
func (m *making) findLink() error {
	usual := dissect.LinkEthernet
	if m.carrier >= codec.InfiniBand {
		usual = dissect.LinkInfiniBand
	}
	n, err := m.number("link", 16, uint64(usual))
	m.link = dissect.LinkType(n)
	return err
}
