package psn

// Range is a run of PSNs, both ends inclusive. It may wrap: First 16777214,
// Last 1 are four PSNs. A Range is never empty.
type Range struct {
	First, Last PSN
}

// Len is the number of PSNs in the range, 1 to 2^24.
func (r Range) Len() int { return int((r.Last-r.First)&Mask) + 1 }

// Contains reports whether p lies in the range.
func (r Range) Contains(p PSN) bool { return (p-r.First)&Mask <= (r.Last-r.First)&Mask }

// String gives "102-103", a single PSN as "102", a wrapping range as
// "16777214-1".
func (r Range) String() string {
	if r.First == r.Last {
		return r.First.String()
	}
	return r.First.String() + "-" + r.Last.String()
}

// MarshalText gives the form of String.
func (r Range) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
