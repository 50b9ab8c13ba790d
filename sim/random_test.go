package sim

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// rough are networks at random: what they do, and whether a packet that is late
// looks lost to a sender, since the receiver reports it missing. Senders count their
// packets in the IP identification.
var rough = []struct {
	name, links string
	late        bool
}{
	{"loss", "there: {loss: {p: 0.03}}, back: {loss: {p: 0.03}}", false},
	{"damage", "there: {damage: {p: 0.02}, loss: {p: 0.01}}, back: {damage: {p: 0.02}}", false},
	{"duplication", "there: {duplicate: {p: 0.02}, loss: {p: 0.01}}", false},
	{"late", "there: {reorder: {p: 0.02, by: 2us}}", true},
	{"late-loss", "there: {reorder: {p: 0.02, by: 20us}, loss: {p: 0.01}}", true},
}

// What a capture calls lost was lost, whatever the network does to what verb of
// what transport. RDMADUMP_ROUGH=N tries the seeds up to N.
func TestLossInventsNothing(t *testing.T) {
	seeds := 20
	if n, err := strconv.Atoi(os.Getenv("RDMADUMP_ROUGH")); err == nil {
		seeds = n
	}
	for _, flow := range []struct{ transport, verb, size string }{
		{"go-back-n", "write", "1..16KiB"}, {"go-back-n", "write-imm", "1..16KiB"}, {"go-back-n", "send", "1..16KiB"},
		{"go-back-n", "read", "1..8KiB"}, {"go-back-n", "fetch-add", "8"},
		{"irn", "write", "1..16KiB"}, {"windowless", "write", "1..16KiB"}, {"mp-rdma", "write", "1..16KiB"},
	} {
		for _, network := range rough {
			name := flow.transport + "-" + flow.verb + "-" + network.name
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				lostAny := false
				for seed := range seeds {
					size := "size: " + flow.size + ", "
					if flow.verb == "fetch-add" {
						size = ""
					}
					s, err := Parse(fmt.Appendf(nil, `
seed: %d
transport: {name: %s}
work: {verb: %s, %scount: 12}
links: {name: wire, delay: 5us, %s}
`, seed+1, flow.transport, flow.verb, size, network.links), "rough.yaml")
					if err != nil {
						t.Fatal(err)
					}
					lostAny = inventsNothing(t, fmt.Sprintf("seed %d", seed+1), play(t, s, "sender", "receiver"), network.late || flow.transport == "irn") || lostAny
				}
				if !lostAny && !network.late {
					t.Error("nothing was lost")
				}
			})
		}
	}
}

// inventsNothing checks what both taps call lost, and reports whether anything
// is. A sender takes for lost what it does not know to have arrived: what was late,
// or what IRN acknowledged in a NACK that was lost; there the sender's tap is left
// out.
func inventsNothing(t *testing.T, what string, r shown, receiverOnly bool) (any bool) {
	t.Helper()
	lost := map[string]bool{}
	for _, c := range named(r.truth, func(l *line) bool { return l.data() && (l.Fate == "lost" || l.Fate == "damaged") }) {
		lost[c[:strings.LastIndex(c, " copy")]] = true
	}
	for _, at := range []Tap{"sender", "receiver"} {
		if at == "sender" && receiverOnly {
			continue
		}
		for p := range missing(analyze(r.frames[at])) {
			any = true
			if !lost[p] {
				t.Errorf("%s, %s: %s is called lost, and was not", what, at, p)
			}
		}
	}
	return any
}
