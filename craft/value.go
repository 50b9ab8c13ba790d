package craft

import (
	"encoding/hex"
	"encoding/json"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// number is the value of a key in so many bits, or otherwise where it is not there.
func (o Object) number(key string, bits int, otherwise uint64) (uint64, error) {
	return parseNumber(o.get(key), key, bits, otherwise)
}

func parseNumber(v any, key string, bits int, otherwise uint64) (uint64, error) {
	most := ^uint64(0) >> (64 - bits)
	var text string
	switch v := v.(type) {
	case nil:
		return otherwise, nil
	case json.Number:
		text = v.String()
	case string:
		text = v
	case bool:
		text = "0"
		if v {
			text = "1"
		}
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil && bits == 1 {
		n, err = map[string]uint64{"true": 1}[text], nil
		if text != "true" && text != "false" {
			return 0, fault(key, "%s: want 0 or 1", shown(v))
		}
	}
	if err != nil || n > most {
		return 0, fault(key, "%s: want 0 to %d", shown(v), most)
	}
	return n, nil
}

// length is a number of bytes, at most so many.
func (o Object) length(key string, most, otherwise int) (int, error) {
	n, err := o.number(key, 63, uint64(otherwise))
	if err == nil && n > uint64(most) {
		err = fault(key, "%d: want 0 to %d", n, most)
	}
	return int(n), err
}

// bytes are hexadecimal digits.
func (o Object) bytes(key string) ([]byte, error) {
	v := o.get(key)
	if v == nil {
		return nil, nil
	}
	text, ok := v.(string)
	b, err := hex.DecodeString(text)
	if !ok || err != nil {
		return nil, fault(key, "%s: want two hexadecimal digits a byte", clip(shown(v)))
	}
	return b, nil
}

// clip shortens what a message quotes.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// mac is an Ethernet address.
func (o Object) mac(key string, otherwise [6]byte) ([]byte, error) {
	text, err := o.text(key, "")
	if err != nil || text == "" && !o.has(key) {
		return otherwise[:], err
	}
	a, err := net.ParseMAC(text)
	if err != nil || len(a) != 6 {
		return nil, fault(key, "%q: want an Ethernet address such as 02:00:00:00:00:01", text)
	}
	return a, nil
}

// ip is an IP address or a GID.
func (o Object) ip(key string, otherwise netip.Addr) (netip.Addr, error) {
	text, err := o.text(key, "")
	if err != nil || text == "" && !o.has(key) {
		return otherwise, err
	}
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return a, fault(key, "%q: want an IP address", text)
	}
	return a, nil
}

// lid is the local identifier of "lid:4".
func (o Object) lid(key string, otherwise uint16) (uint64, error) {
	text, err := o.text(key, "")
	if err != nil || text == "" && !o.has(key) {
		return uint64(otherwise), err
	}
	number, ok := strings.CutPrefix(text, "lid:")
	n, err := strconv.ParseUint(number, 0, 16)
	if !ok || err != nil {
		return 0, fault(key, "%q: want lid:0 to lid:65535, as the carrier is ib", text)
	}
	return n, nil
}

// moment is a point in time, seconds and up to nine digits behind the point, in
// nanoseconds.
func (o Object) moment(key string, otherwise int64) (int64, error) {
	text, err := o.text(key, "")
	if err != nil || !o.has(key) {
		return otherwise, err
	}
	wrong := fault(key, "%q: want seconds since 1970 such as 1700000000.000001000", text)
	whole, fraction, _ := strings.Cut(text, ".")
	s, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(fraction) > 9 || s < -9_000_000_000 || s > 9_000_000_000 {
		return 0, wrong
	}
	n, err := strconv.ParseUint((fraction + "000000000")[:9], 10, 32)
	if err != nil {
		return 0, wrong
	}
	return s*1e9 + int64(n), nil
}
