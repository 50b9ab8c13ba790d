package report

import "strings"

// NoPackets says of a capture in which no RDMA packet was found what was in its
// place.
type NoPackets struct {
	Frames    int
	Cut       int // of them, those that the capture cut short
	Fragments int // of them, IP fragments of what may be RDMA
}

// String is "no RDMA packets in 5 frames (2 cut short, 1 IP fragment)".
func (n NoPackets) String() string {
	text := "no RDMA packets in " + counted(int64(n.Frames), "frame", "frames")
	var parts []string
	if n.Cut > 0 {
		parts = append(parts, grouped(n.Cut)+" cut short")
	}
	if n.Fragments > 0 {
		parts = append(parts, counted(int64(n.Fragments), "IP fragment", "IP fragments"))
	}
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}
