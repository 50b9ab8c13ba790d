package top

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/rdmadump/rdmadump/dissect"
)

// view is a model on a screen of a size, and what it asked for.
type view struct {
	*Model
	asked []Query
	held  []bool
}

func newView(width, height int, s *Screen) *view {
	v := &view{}
	v.Model = &Model{Title: "trace.pcap", ask: func(q Query) { v.asked = append(v.asked, q) }, hold: func(on bool) { v.held = append(v.held, on) }}
	v.Update(tea.WindowSizeMsg{Width: width, Height: height})
	if s != nil {
		v.Update(screenMsg{s})
	}
	return v
}

// press sends keys: words for those with a name, else letters.
func (v *view) press(keys ...string) (last tea.Cmd) {
	codes := map[string]tea.Key{"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
		"pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
		"backspace": {Code: tea.KeyBackspace}, "space": {Code: tea.KeySpace, Text: " "}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}}
	for _, key := range keys {
		if k, named := codes[key]; named {
			_, last = v.Update(tea.KeyPressMsg(k))
			continue
		}
		for _, r := range key {
			_, last = v.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return last
}

func (v *view) text() string { return strings.Join(v.lines(), "\n") }

// quits reports whether a command ends the program.
func quits(c tea.Cmd) bool {
	if c == nil {
		return false
	}
	_, yes := c().(tea.QuitMsg)
	return yes
}

// extreme is a screen whose figures are as wide as they come.
func extreme(n int) *Screen {
	huge := dissect.Counts{Packets: math.MaxInt64 / 2, PayloadBytes: math.MaxInt64 / 9, Lost: 1e15, Retransmitted: 12345678, Naks: 99999, RNRNaks: 9999,
		Timeouts: 1e6, CEMarked: 1e9, CNPs: 1e12, NotCaptured: 5, Undecided: 7, Acks: math.MaxInt64}
	s := &Screen{At: 9e18, Start: 1, Connections: 65536, Matching: 65536, Counts: huge, Drops: 1e18, Rates: average(&huge, 1)}
	long := dissect.AddressFrom16([]byte(strings.Repeat("\xfd", 16)))
	for i := range n {
		end := dissect.SnapshotEnd{Address: long, QPN: dissect.QPN(i + 1), Known: true}
		s.Rows = append(s.Rows, Row{Key: uint32(i + 1), ID: i + 1, Service: "RC", Transport: "go-back-n", A: end, B: end, Total: huge,
			Rates: average(&huge, 1e6), RTT: math.MaxInt64, Trouble: 1e6, Last: 9e18, Spark: Spark{Packets: [bins]uint32{1, 2, math.MaxUint32}, Trouble: 7}})
	}
	if n > 0 {
		gap := dissect.Gap{First: 16777214, Last: 16777215, Count: 2, Evidence: dissect.EvidenceImpliedNAK, Where: dissect.Downstream, OpenedNS: 1e15,
			ClosedNS: 3e15, Closed: dissect.ClosedRetransmitted}
		way := Way{Src: long, Dst: long, Counts: huge, RTT: &dissect.Span{Count: 1, Median: 1e18, P99: 1e18}, Gaps: slices.Repeat([]dissect.Gap{gap}, 40)}
		s.Detail = &Detail{Row: s.Rows[0], Ways: [2]Way{way, way}}
	}
	return s
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// No line is wider than the terminal and there are as many as it has, whatever is
// shown, in terminals of every size.
func TestNoLineIsTooWide(t *testing.T) {
	sizes := [][2]int{{80, 24}, {140, 50}, {1, 1}, {2, 3}, {20, 5}, {500, 200}}
	for w := 30; w < 200; w += 7 {
		sizes = append(sizes, [2]int{w, 24})
	}
	screens := []*Screen{extreme(0), extreme(1), extreme(300), replay(t, "cases/04-gap-nak-gobackn.pcap", Query{}), nil}
	for _, size := range sizes {
		for _, s := range screens {
			for _, keys := range [][]string{{}, {"t"}, {"enter"}, {"enter", "down", "down", "pgdown"}, {"?"}, {"/", "2001:db8::1, 0x000222 and so on and so on and so on and so on"}, {"p"}, {"end"}, {"S"}} {
				for _, colored := range []bool{false, true} {
					v := newView(size[0], size[1], s)
					v.Colored, v.Title = colored, strings.Repeat("long", 60)
					v.press(keys...)
					lines := v.lines()
					if len(lines) != size[1] {
						t.Fatalf("%v %v: %d lines", size, keys, len(lines))
					}
					for _, l := range lines {
						plain := sgr.ReplaceAllString(l, "")
						if n := utf8.RuneCountInString(plain); n > size[0] || strings.ContainsAny(plain, "\n\x1b") || !colored && plain != l {
							t.Fatalf("%v %v: %d columns: %q", size, keys, n, l)
						}
					}
				}
			}
		}
	}
}

// All columns of numbers are there in 80 columns, each in its place.
func TestTableAt80Columns(t *testing.T) {
	s := replay(t, "cases/04-gap-nak-gobackn.pcap", Query{})
	v := newView(80, 24, s)
	lines := v.lines()
	titles, row := strings.Fields(lines[3]), strings.Fields(lines[4])
	if want := []string{"CONNECTION", "PKTS", "LOST", "RESNT", "NAK", "RNR", "CNP", "RTT", "TREND"}; !slices.Equal(titles, want) {
		t.Errorf("%q", titles)
	}
	// Its expectation: 12 packets, 2 lost, 6 sent again, a NAK; no round trip.
	if want := []string{"▸192.0.2.1→192.0.2.2", "0x000111", "12", "2", "6", "1", "·", "·", "·"}; !slices.Equal(row[:len(want)], want) {
		t.Errorf("%q", row)
	}
	v.press("t")
	if row := strings.Fields(v.lines()[4]); row[2] != "923k" || row[3] != "154k" { // in 13 us
		t.Errorf("rates %q", row)
	}
}

// Where there is no room for all columns, those that are there stand under their
// titles, and how to leave can be read.
func TestNarrow(t *testing.T) {
	for width := 30; width < 100; width++ {
		v := newView(width, 24, replay(t, "cases/04-gap-nak-gobackn.pcap", Query{}))
		lines := v.lines()
		titles, row := []rune(lines[3]), []rune(lines[4])
		for title, want := range map[string]string{"PKTS": "12", "LOST": "2"} {
			end := strings.Index(string(titles), title) + len(title)
			if end < len(title) || end > len(row) {
				t.Fatalf("%d columns: no %s: %s\n%s", width, title, lines[3], lines[4])
			}
			if got := string(row[end-numberWidth : end]); strings.TrimSpace(got) != want {
				t.Errorf("%d columns: %s is %q: %s\n%s", width, title, got, lines[3], lines[4])
			}
		}
		if last := lines[len(lines)-1]; !strings.HasSuffix(last, "? help  q quit") {
			t.Errorf("%d columns: %q", width, last)
		}
	}
}

// three are rows of which each is first by something else.
func three() *Screen {
	host := func(i byte) dissect.SnapshotEnd {
		return dissect.SnapshotEnd{Address: dissect.AddressFrom4([]byte{192, 0, 2, i}), QPN: dissect.QPN(i), Known: true}
	}
	s := &Screen{Connections: 3, Matching: 3}
	s.Rows = []Row{
		{Key: 1, A: host(3), B: host(9), Trouble: 5, Total: dissect.Counts{Packets: 10, Lost: 9, Naks: 1}, Rates: Rates{Packets: 100, Resent: 1}, RTT: 5, Last: 1},
		{Key: 2, A: host(2), B: host(9), Trouble: 9, Total: dissect.Counts{Packets: 30, RNRNaks: 3}, Rates: Rates{Packets: 1, Lost: 3, RNRNaks: 2}, RTT: 3, Last: 5},
		{Key: 3, A: host(1), B: host(9), Trouble: 1, Total: dissect.Counts{Packets: 20, Timeouts: 2, CNPs: 1}, Rates: Rates{Packets: 10, Naks: 5, CEMarked: 1, Timeouts: 1}, RTT: 9, Last: 3},
	}
	return s
}

func keys(s *Screen) (out []uint32) {
	for i := range s.Rows {
		out = append(out, s.Rows[i].Key)
	}
	return out
}

// Each order puts first what it says, and says so to who makes the rows.
func TestOrders(t *testing.T) {
	want := map[Order][]uint32{
		ByTrouble: {2, 1, 3}, ByPackets: {1, 3, 2}, ByLost: {2, 1, 3}, ByResent: {1, 2, 3}, ByNaks: {3, 2, 1}, ByRNRNaks: {2, 1, 3},
		ByTimeouts: {3, 2, 1}, ByCNPs: {3, 2, 1}, ByRTT: {3, 1, 2}, ByAge: {2, 3, 1}, ByAddress: {3, 2, 1},
	}
	v := newView(80, 24, three())
	for o := ByTrouble; ; o++ {
		if got := keys(v.screen); v.query.Order != o || !slices.Equal(got, want[o]) {
			t.Errorf("by %s: %v, want %v", v.query.Order.String(), got, want[o])
		}
		if o == orders-1 {
			break
		}
		v.press("s")
		if last := v.asked[len(v.asked)-1]; last.Order != o+1 {
			t.Fatalf("asked for %s", last.Order.String())
		}
	}
	v.press("s") // round
	if v.query.Order != ByTrouble {
		t.Error(v.query.Order.String())
	}
	v.press("3", "t") // by what was lost so far
	if got := keys(v.screen); !slices.Equal(got, []uint32{1, 2, 3}) || !v.asked[len(v.asked)-1].Totals {
		t.Errorf("by total losses %v", got)
	}
}

// What to find is applied as it is typed, kept by enter, and dropped by esc.
func TestFindKeys(t *testing.T) {
	v := newView(80, 24, three())
	v.press("/", "192.0.2.2q") // q is a letter here
	if len(v.screen.Rows) != 0 || !strings.Contains(v.text(), "none of 3 connections fits") {
		t.Error(v.text())
	}
	v.press("backspace", "enter")
	if got := v.asked[len(v.asked)-1].Find.text; got != "192.0.2.2" || v.mode != listing || !strings.Contains(v.text(), "find 192.0.2.2") {
		t.Errorf("asked for %q\n%s", got, v.text())
	}
	v.Update(screenMsg{three()})
	if got := keys(v.screen); !slices.Equal(got, []uint32{2}) {
		t.Error(got)
	}
	v.press("esc")
	v.Update(screenMsg{three()})
	if got := keys(v.screen); len(got) != 3 {
		t.Error(got)
	}
}

// What is selected stays selected when rows change places, but for the first place,
// which is that of the worst.
func TestSelection(t *testing.T) {
	v := newView(80, 24, three())
	if v.selected != 2 {
		t.Fatalf("%d is selected", v.selected)
	}
	changed := three()
	changed.Rows[0].Trouble = 99 // key 1
	v.Update(screenMsg{changed})
	if v.selected != 1 {
		t.Errorf("%d is selected, want the worst", v.selected)
	}
	v.press("down")
	if v.selected != 2 {
		t.Fatalf("%d is selected", v.selected)
	}
	v.Update(screenMsg{three()}) // 2 is first again
	if v.selected != 2 {
		t.Errorf("%d is selected, want 2", v.selected)
	}
	big := newView(80, 24, extreme(300))
	big.press("end")
	if big.at != 299 || !strings.Contains(big.text(), "300 of 65,536") {
		t.Errorf("row %d\n%s", big.at, big.text())
	}
	big.press("pgup", "up")
	if big.at != 299-19-1 {
		t.Errorf("row %d", big.at)
	}
	big.Update(tea.WindowSizeMsg{Width: 80, Height: 10}) // the row stays in sight
	if !strings.Contains(big.text(), "▸") {
		t.Error(big.text())
	}
}

// A connection that is opened shows both directions and its gaps.
func TestDetail(t *testing.T) {
	s := follow(t, "cases/04-gap-nak-gobackn.pcap")
	s.End("")
	v := newView(100, 30, s.Screen(&Query{}))
	v.press("enter")
	q := v.asked[len(v.asked)-1]
	if q.Open == 0 {
		t.Fatal("nothing was asked for")
	}
	v.Update(screenMsg{s.Screen(&q)})
	text := v.text()
	for _, want := range []string{"connection 1  RC go-back-n", "A 192.0.2.1 0x000222   B 192.0.2.2 0x000111", "102-103", "upstream", "observed", "retransmitted"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !regexp.MustCompile(`(?m)^resent +6 +·`).MatchString(text) || !regexp.MustCompile(`(?m)^lost +2 +·`).MatchString(text) {
		t.Error(text)
	}
	v.press("esc")
	if v.mode != listing || v.asked[len(v.asked)-1].Open != 0 {
		t.Error(v.text())
	}
	v.press("enter")
	v.Update(screenMsg{&Screen{}}) // it was let go meanwhile
	if !strings.Contains(v.text(), "no more is known of this connection") {
		t.Error(v.text())
	}
}

// A pause freezes the view of what runs, and holds a replay.
func TestPause(t *testing.T) {
	v := newView(80, 24, three())
	v.press("p")
	v.Update(screenMsg{extreme(5)})
	if len(v.screen.Rows) != 3 || len(v.held) != 0 || !strings.Contains(v.text(), "paused") {
		t.Error(v.text())
	}
	v.press("enter") // still shows what was not seen before
	v.Update(screenMsg{&Screen{Detail: &Detail{Row: Row{Key: v.query.Open}}}})
	if strings.Contains(v.text(), "no more is known") {
		t.Error(v.text())
	}
	v.press("esc", "space")
	v.Update(screenMsg{extreme(5)})
	if len(v.screen.Rows) != 5 {
		t.Error(v.text())
	}
	v = newView(80, 24, three())
	v.Replay = true
	v.press("p", "p")
	if !slices.Equal(v.held, []bool{true, false}) {
		t.Error(v.held)
	}
}

func TestQuit(t *testing.T) {
	for _, keys := range [][]string{{"q"}, {"ctrl+c"}, {"?", "q"}, {"enter", "q"}, {"/", "x", "ctrl+c"}} {
		if !quits(newView(80, 24, three()).press(keys...)) {
			t.Errorf("%q does not quit", keys)
		}
	}
	if quits(newView(80, 24, three()).press("/", "q")) {
		t.Error("a letter of what to find quits")
	}
}

// Help fits 80 columns and 24 lines, and names every key of the list.
func TestHelp(t *testing.T) {
	v := newView(80, 24, three())
	v.press("?")
	text := v.text()
	for _, part := range []string{keysHelp, columnsHelp, TroubleHelp} {
		for line := range strings.Lines(part) {
			if !strings.Contains(text, strings.TrimSpace(line)) {
				t.Errorf("no %q", line)
			}
		}
	}
	v.press("esc")
	if v.mode != listing {
		t.Error(v.text())
	}
}

// Why a live capture ended is said, and totals are shown then, unless the user
// chose.
func TestEnd(t *testing.T) {
	s := three()
	s.Ended, s.Message = true, "eth0: the interface went down"
	v := newView(80, 24, s)
	if !strings.Contains(v.text(), "ended: eth0: the interface went down") || !v.query.Totals {
		t.Error(v.text())
	}
	v = newView(80, 24, three())
	v.press("t", "t")
	v.Update(screenMsg{s})
	if v.query.Totals {
		t.Error("the choice was lost")
	}
}

// Numbers keep to their columns and say the magnitude.
func TestShort(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 0.004: "<0.01", 0.25: "0.25", 3: "3", 3.14159: "3.1", 9.96: "10", 123.4: "123", 9999: "9999",
		12345: "12.3k", 99949: "99.9k", 999499: "999k", 1e6: "1.0M", 2.5e9: "2.5G", 1e18: "1.0E"} {
		if got := short(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
	for exponent := -4.0; exponent < 19; exponent += 0.01 {
		if n := math.Pow(10, exponent); len(short(n)) > 5 {
			t.Errorf("%v: %q", n, short(n))
		}
	}
	for ns, want := range map[int64]string{0: "0ns", 999: "999ns", 1500: "1.5us", 13000: "13us", 67_109_000: "67ms", 2_500_000_000: "2.5s", 90_000_000_000: "90s"} {
		if got := span(ns); got != want {
			t.Errorf("%d: %q, want %q", ns, got, want)
		}
	}
	for d, want := range map[time.Duration]string{9200 * time.Millisecond: "9.2s", 10 * time.Second: "10s", 187 * time.Second: "3m07s",
		time.Hour + 12*time.Second: "1h00m12s", 50 * time.Hour: "50h00m00s"} {
		if got := clock(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	if got := fmt.Sprintln(commas(1234567), commas(-1234), commas(999)); got != "1,234,567 -1,234 999\n" {
		t.Error(got)
	}
}
