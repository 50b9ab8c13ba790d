package sim

import (
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
)

// Rate is in bits per second; 0 is without limit.
type Rate float64

// UnmarshalText takes "40Gb/s", "40Gbit/s" or "40Gbps", with k, M, G or T or
// none of them.
func (r *Rate) UnmarshalText(b []byte) error {
	s := string(b)
	for _, unit := range []string{"bit/s", "bps", "b/s"} {
		number, ok := strings.CutSuffix(s, unit)
		if !ok {
			continue
		}
		number = strings.TrimSpace(number)
		factor := 1.0
		if n := len(number); n > 0 {
			if i := strings.IndexByte("kMGT", number[n-1]); i >= 0 {
				number, factor = strings.TrimSpace(number[:n-1]), math.Pow(1000, float64(i+1))
			}
		}
		v, err := strconv.ParseFloat(number, 64)
		if err == nil && v > 0 && v*factor <= 1e15 {
			*r = Rate(v * factor)
			return nil
		}
	}
	return errors.New("want a rate such as 40Gb/s")
}

// String is the form that UnmarshalText takes.
func (r Rate) String() string {
	for i, unit := range []string{"Tb/s", "Gb/s", "Mb/s", "kb/s"} {
		if factor := math.Pow(1000, float64(4-i)); float64(r) >= factor {
			return strconv.FormatFloat(float64(r)/factor, 'g', -1, 64) + unit
		}
	}
	return strconv.FormatFloat(float64(r), 'g', -1, 64) + "b/s"
}

// Size is a number of bytes, or a range of which each is as likely.
type Size struct{ Min, Max int64 }

// Fixed is a size that does not vary.
func Fixed(n int64) Size { return Size{n, n} }

// UnmarshalText takes "4096", "64KiB", "1.5MB" or a range such as "1KiB..64KiB".
func (s *Size) UnmarshalText(b []byte) error {
	first, last, ranged := strings.Cut(string(b), "..")
	if !ranged {
		last = first
	}
	var err, err2 error
	s.Min, err = bytesOf(first)
	s.Max, err2 = bytesOf(last)
	if err = errors.Join(err, err2); err != nil {
		return errors.New("want bytes such as 4096, 64KiB or 1KiB..64KiB")
	}
	if s.Max < s.Min {
		return errors.New("want the smaller size first")
	}
	return nil
}

// String is the form that UnmarshalText takes.
func (s Size) String() string {
	if s.Min == s.Max {
		return strconv.FormatInt(s.Min, 10)
	}
	return fmt.Sprintf("%d..%d", s.Min, s.Max)
}

var sizeUnits = []struct {
	name   string
	factor float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

func bytesOf(s string) (int64, error) {
	s = strings.TrimSpace(s)
	factor := 1.0
	for _, unit := range sizeUnits {
		if number, ok := strings.CutSuffix(s, unit.name); ok {
			s, factor = strings.TrimSpace(number), unit.factor
			break
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if v *= factor; err == nil && (!(v >= 0) || v > 1<<50 || v != math.Trunc(v)) {
		err = strconv.ErrRange
	}
	return int64(v), err
}

// MAC is an Ethernet address.
type MAC [6]byte

// UnmarshalText takes "02:00:00:00:00:01".
func (m *MAC) UnmarshalText(b []byte) error {
	a, err := net.ParseMAC(string(b))
	if err != nil || len(a) != len(m) {
		return errors.New("want an Ethernet address such as 02:00:00:00:00:01")
	}
	copy(m[:], a)
	return nil
}
