package capture

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/dissect"
)

// The records are laid out by hand as draft-ietf-opsawg-pcap draws them.
func TestPcapBytes(t *testing.T) {
	frames := []dissect.Frame{
		{Data: []byte{1, 2, 3, 4, 5}, WireLen: 0x600, Time: 1700000000_123456789, Link: 247},
		{Data: []byte{9}, WireLen: 1, Time: -5, Link: 247},
	}
	for _, v := range []struct {
		options WriterOptions
		want    string
	}{
		{WriterOptions{Form: PcapMicro},
			"d4c3b2a1 0200 0400 00000000 00000000 00000400 f7000000" +
				"00f15365 40e20100 05000000 00060000 0102030405" + "00000000 00000000 01000000 01000000 09"},
		{WriterOptions{Form: PcapNano, SnapLen: 3, Application: "not in pcap"},
			"4d3cb2a1 0200 0400 00000000 00000000 03000000 f7000000" +
				"00f15365 15cd5b07 03000000 00060000 010203" + "00000000 00000000 01000000 01000000 09"},
	} {
		var out bytes.Buffer
		w, err := NewWriter(&out, "x", v.options)
		if err != nil {
			t.Fatal(err)
		}
		for i := range frames {
			if err := w.WriteFrame(&frames[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := hex.EncodeToString(out.Bytes()), strings.ReplaceAll(v.want, " ", ""); got != want {
			t.Errorf("got\n%s, want\n%s", got, want)
		}
	}
}

func TestPcapHoldsOneLinkType(t *testing.T) {
	w, _ := NewWriter(io.Discard, "x.pcap", WriterOptions{Form: PcapMicro})
	if err := w.WriteFrame(&dissect.Frame{Link: 1}); err != nil {
		t.Fatal(err)
	}
	err := w.WriteFrame(&dissect.Frame{Link: 247})
	if want := "x.pcap: a pcap file holds frames of one link type: Ethernet, then InfiniBand"; !errors.Is(err, ErrLinkType) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestPcapWithoutFrames(t *testing.T) {
	var out bytes.Buffer
	w, _ := NewWriter(&out, "x", WriterOptions{Form: PcapNano})
	if err := w.Flush(); err != nil || out.Len() != 0 {
		t.Errorf("a link type was decided on: % x, %v", out.Bytes(), err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(&out, "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Next(new(dissect.Frame)); err != io.EOF {
		t.Errorf("%v, want the end", err)
	}
}

// A pcapng writer with a snap length says so, and cuts.
func TestPcapngSnapLen(t *testing.T) {
	var out bytes.Buffer
	w, _ := NewWriter(&out, "x", WriterOptions{SnapLen: 6})
	if err := w.WriteFrame(&dissect.Frame{Data: data(60, 1), WireLen: 60, Link: 1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(&out, "x")
	if err != nil {
		t.Fatal(err)
	}
	var f dissect.Frame
	if err := r.Next(&f); err != nil || !bytes.Equal(f.Data, data(60, 1)[:6]) || f.WireLen != 60 {
		t.Errorf("%+v, %v", f, err)
	}
	if in := r.Info().Interfaces; len(in) != 1 || in[0].SnapLen != 6 {
		t.Errorf("%+v", in)
	}
}

func TestFormOf(t *testing.T) {
	for name, want := range map[string]Form{
		"a.pcap": PcapNano, "a.pcap.gz": PcapNano, "b.pcap.zst": PcapNano, "c.cap": PcapNano,
		"a.pcapng": Pcapng, "a.pcapng.gz": Pcapng, "-": Pcapng, "": Pcapng, "pcap": Pcapng, "a.gz": Pcapng,
	} {
		if got := FormOf(name, PcapNano); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}
