package craft

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/report"
)

// What read --json=full says of the frames of every shipped capture gives them
// back, with time, length on the wire and link type.
func TestCapturesComeBack(t *testing.T) {
	frames := 0
	for _, pattern := range []string{"../testdata/cases/*.pcap*", "../testdata/pcaps/*.pcap*"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			frames += comesBack(t, name)
		}
	}
	if frames < 10_000 {
		t.Errorf("only %d frames in the shipped captures", frames)
	}
}

func comesBack(t *testing.T, name string) (frames int) {
	r, err := capture.Open(name)
	if err != nil {
		return 0 // some cases are no captures at all
	}
	defer r.Close()
	var (
		f, got  dissect.Frame
		found   dissect.Packet
		locator dissect.Locator
		p       report.Packet
		b       Builder
		line    []byte
	)
	for r.Next(&f) == nil {
		if outcome := locator.Locate(&f, &found); outcome != dissect.Found && outcome != dissect.Cut {
			continue
		}
		frames++
		p.Decode(&f, &found)
		line = report.JSON{Full: true}.Append(line[:0], &p)
		o, err := Parse(line)
		if err == nil {
			err = b.Frame(o, &got)
		}
		switch {
		case err != nil:
			t.Errorf("%s frame %d: %v\n%s", name, f.Number, err, line)
			return frames
		case !bytes.Equal(got.Data, f.Data) || got.WireLen != f.WireLen || got.Link != f.Link || got.Time != f.Time:
			t.Errorf("%s frame %d: %d of %d bytes, %v, %d:\n%x\ncaptured was %d of %d, %v, %d:\n%x", name, f.Number,
				len(got.Data), got.WireLen, got.Link, got.Time, got.Data, len(f.Data), f.WireLen, f.Link, f.Time, f.Data)
			return frames
		}
	}
	return frames
}
