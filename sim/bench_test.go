package sim

import (
	"io"
	"testing"

	"github.com/rdmadump/rdmadump/capture"
)

// BenchmarkRun is what a packet of 1 KiB costs from the queue pair that sends it
// to the capture of the sender, the one that receives it included.
func BenchmarkRun(b *testing.B) {
	s := Default()
	s.Work[0].Size = Fixed(1 << 20)
	s.Work[0].Count = b.N/1088 + 1
	w, err := capture.NewWriter(io.Discard, "discard", capture.WriterOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	r, err := Run(&s, Output{Captures: []Capture{{At: "sender", Frame: w.WriteFrame}}})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(r.Bytes / r.Packets)
}
