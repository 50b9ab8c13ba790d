package report

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/rdmadump/rdmadump/dissect"
)

// hostile is a file name that sets a title, a colour, and writes a line of its
// own; with C1 controls, a change of direction and what is no UTF-8.
const hostile = "e\x1b]0;pwn\x07\x1b[31m\nrdmadump: fake\r\t\x7f\u009b1m\u202e\u2028\xff\xc3(é).pcap"

func TestVisible(t *testing.T) {
	const want = `e\x1b]0;pwn\a\x1b[31m\nrdmadump: fake\r\t\x7f\u009b1m\u202e\u2028\xff\xc3(é).pcap`
	if got := Visible(hostile); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, plain := range []string{"", `C:\traces\x.pcap`, "-", "trace 1 – Kopie (ü).pcap", "日本語"} {
		if got := Visible(plain); got != plain {
			t.Errorf("%q becomes %q", plain, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		wantHarmless(t, Visible(s))
	})
}

type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// wantHarmless checks that nothing but line ends controls the terminal.
func wantHarmless(t failer, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("not UTF-8: %q", s)
	}
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2028 {
			t.Errorf("%U in %q", r, s)
		}
	}
}

// A name reaches the terminal in no form that does more than show it.
func TestHostileNames(t *testing.T) {
	r := &dissect.Report{Captures: []dissect.Capture{{File: hostile, Format: "pcap", Error: hostile + ": frame 1: " + hostile}}}
	var text strings.Builder
	if err := (Loss{Width: 120}).Write(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(text.String(), "\n") {
		wantHarmless(t, line)
		if strings.HasPrefix(line, "rdmadump:") {
			t.Errorf("a name made a line of its own: %q", line)
		}
	}
	heading := string((&Lines{}).AppendHeading(nil, hostile))
	wantHarmless(t, strings.TrimSuffix(heading, "\n"))

	b, err := AppendLine(nil, r)
	if err != nil {
		t.Fatal(err)
	}
	wantHarmless(t, strings.TrimSuffix(string(b), "\n"))
	var got struct{ Captures []struct{ File string } }
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	// JSON is Unicode: it has no bytes that are none.
	if got, want := got.Captures[0].File, strings.Replace(hostile, "\xff\xc3", "\ufffd\ufffd", 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
