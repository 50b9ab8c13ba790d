package layers_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

// frame is one record of a capture.
type frame struct {
	data []byte
	info gopacket.CaptureInfo
	link layers.LinkType
}

// shipped reads every capture in testdata/pcaps, by file.
func shipped(t testing.TB) map[string][]frame {
	t.Helper()
	names, err := filepath.Glob("../testdata/pcaps/*.pcap.gz")
	if err != nil || len(names) < 10 {
		t.Fatalf("captures: %d found, %v", len(names), err)
	}
	all := map[string][]frame{}
	for _, name := range names {
		all[filepath.Base(name)] = readCapture(t, name)
	}
	return all
}

func readCapture(t testing.TB, name string) []frame {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := pcapgo.NewReader(z)
	if err != nil {
		t.Fatal(err)
	}
	var frames []frame
	for {
		data, info, err := r.ReadPacketData()
		if err == io.EOF {
			return frames
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		frames = append(frames, frame{data, info, r.LinkType()})
	}
}
