package dissect

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Pair is two ends of which the user says that they talk to each other.
type Pair [2]End

// ParsePair reads "SRC/QPN=DST/QPN", such as 192.0.2.1/0x222=192.0.2.2/0x111.
// A QPN is hexadecimal with 0x, or decimal.
func ParsePair(s string) (Pair, error) {
	left, right, ok := strings.Cut(s, "=")
	a, err1 := parseEnd(left)
	b, err2 := parseEnd(right)
	if !ok || err1 != nil || err2 != nil {
		return Pair{}, errors.New("want two ends, ADDRESS/QPN=ADDRESS/QPN, such as 192.0.2.1/0x222=192.0.2.2/0x111")
	}
	return Pair{a, b}, nil
}

func parseEnd(s string) (End, error) {
	at := strings.LastIndexByte(s, '/')
	if at < 0 {
		return End{}, strconv.ErrSyntax
	}
	host, err := ParseHost(s[:at])
	if err != nil || strings.Contains(s[:at], "/") {
		return End{}, errHost
	}
	qpn, err := ParseQPN(s[at+1:])
	return End{host.address, qpn}, err
}

// ParseQPN reads a queue pair number of 24 bits: hexadecimal with 0x, as in
// 0x000222, or decimal, as in 546.
func ParseQPN(s string) (QPN, error) {
	digits, base := s, 10
	if len(s) > 2 && strings.EqualFold(s[:2], "0x") {
		digits, base = s[2:], 16
	}
	n, err := strconv.ParseUint(digits, base, 24)
	if err != nil {
		return 0, errors.New("want a queue pair number of 24 bits, hexadecimal with 0x (0x000222) or decimal (546)")
	}
	return QPN(n), nil
}

// Transports is the values of Connection.Transport, which Config.Assume takes.
func Transports() []string { return slices.Clone(transportNames[:]) }

// Tap is where a capture point is, seen along a connection. Its sender is the
// end that asked first, A in the report; what the other end sends has that end
// as its sender, so that a tap next to A is at the receiver of READ responses.
type Tap string

// The places of a capture point. "" is for finding it out from times.
const (
	TapSender   Tap = "sender"
	TapReceiver Tap = "receiver"
	TapMiddle   Tap = "middle"
)

// stated makes the halves of pairs known before they appear.
func stated(pairs []Pair) map[halfKey]halfKey {
	all := make(map[halfKey]halfKey, 2*len(pairs))
	for _, p := range pairs {
		there := halfKey{src: p[0].Address, dst: p[1].Address, qpn: uint32(p[1].QPN)}
		back := halfKey{src: p[1].Address, dst: p[0].Address, qpn: uint32(p[0].QPN)}
		all[there], all[back] = back, there
	}
	return all
}

// UnmatchedPair is a stated pair of which the capture has not both directions.
type UnmatchedPair struct {
	Ends   Pair  `json:"ends"`
	Silent []End `json:"silent"` // the ends to which no packet of the pair goes
}

// unmatched is the stated pairs of which no two halves were joined.
func (a *Analyzer) unmatched() []UnmatchedPair {
	if len(a.config.Pairs) == 0 {
		return nil
	}
	seen, met := map[halfKey]bool{}, map[halfKey]bool{}
	for _, h := range a.halves {
		key := h.key
		key.network = 0
		seen[key] = true
		if h.partner != nil && h.pairedBy == byUser {
			met[key] = true
		}
	}
	var out []UnmatchedPair
	for _, p := range a.config.Pairs {
		there := halfKey{src: p[0].Address, dst: p[1].Address, qpn: uint32(p[1].QPN)}
		back := halfKey{src: p[1].Address, dst: p[0].Address, qpn: uint32(p[0].QPN)}
		if met[there] {
			continue
		}
		u := UnmatchedPair{Ends: p, Silent: []End{}}
		if !seen[back] {
			u.Silent = append(u.Silent, p[0])
		}
		if !seen[there] {
			u.Silent = append(u.Silent, p[1])
		}
		out = append(out, u)
	}
	return out
}

// meetStated pairs a new half as the user says. Where the other one is not there
// yet it waits for that, and for no other.
func (a *Analyzer) meetStated(h *half) {
	plain := h.key
	plain.network = 0
	other, ok := a.stated[plain]
	if !ok {
		return
	}
	other.network = h.key.network
	h.promised = &other
	h.pairedBy = byUser
	if p := a.table.find(&other, a.table.hash(&other)); p != nil && p != h {
		a.pair(h, p, byUser)
	}
}

// transportStated is the transport that the user states, if any.
func (c *Config) transportStated() (t transportKind, ok bool) {
	i := slices.Index(transportNames[:], c.Assume)
	return transportKind(max(i, 0)), i >= 0
}

// heeds reports whether feedback in the form of a transport is read as such: not
// if the user states another one.
func (h *half) heeds(t transportKind) bool {
	assumed, ok := h.req.a.config.transportStated()
	return !ok || assumed == t
}

// sideStated is the place of the capture point that the user states, seen from
// the stream.
func (s *stream) sideStated() (side, bool) {
	fromA := s.half.asking() == s.half
	switch s.a.config.Tap {
	case TapSender:
		if fromA {
			return senderSide, true
		}
		return receiverSide, true
	case TapReceiver:
		if fromA {
			return receiverSide, true
		}
		return senderSide, true
	case TapMiddle:
		return midway, true
	}
	return midway, false
}

// asking is that of a half and its partner whose requests came first: its sender
// is end A.
func (h *half) asking() *half {
	p := h.partner
	if p != nil && p.req.on && (!h.req.on || p.id < h.id) {
		return p
	}
	return h
}
