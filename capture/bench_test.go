package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/google/gopacket/pcapgo"

	"github.com/rdmadump/rdmadump/dissect"
)

// The benchmarks read one capture with this package and with pcapgo, so that
// a ratio of one run says what the reader is worth.
func BenchmarkPcap(b *testing.B) { benchmark(b, benchPcap(), pcapgoClassic) }

func BenchmarkPcapng(b *testing.B) { benchmark(b, benchPcapng(), pcapgoNg) }

const benchFrames, benchLen = 20000, 512

func benchPcap() []byte {
	out := pcapBuilder{order: binary.LittleEndian, magic: 0xa1b2c3d4}.file(1, 65535)
	for i := range benchFrames {
		out = pcapBuilder{order: binary.LittleEndian}.record(out, 1700000000, uint32(i), benchLen, make([]byte, benchLen))
	}
	return out
}

func benchPcapng() []byte {
	ng := ngBuilder{order: binary.LittleEndian}
	ng.section()
	ng.iface(1, 0, option{9, []byte{9}})
	for i := range benchFrames {
		ng.enhanced(0, 1700000000000000000+uint64(i), benchLen, make([]byte, benchLen))
	}
	return ng.out
}

func pcapgoClassic(src io.Reader) (int, error) {
	r, err := pcapgo.NewReader(src)
	for n := 0; err == nil; n++ {
		if _, _, err = r.ZeroCopyReadPacketData(); err == io.EOF {
			return n, nil
		}
	}
	return 0, err
}

func pcapgoNg(src io.Reader) (int, error) {
	r, err := pcapgo.NewNgReader(src, pcapgo.DefaultNgReaderOptions)
	for n := 0; err == nil; n++ {
		if _, _, err = r.ZeroCopyReadPacketData(); err == io.EOF {
			return n, nil
		}
	}
	return 0, err
}

func ours(src io.Reader) (int, error) {
	r, err := NewReader(src, "bench")
	if err != nil {
		return 0, err
	}
	defer r.Close()
	var f dissect.Frame
	for n := 0; ; n++ {
		if err := r.Next(&f); err == io.EOF {
			return n, nil
		} else if err != nil {
			return 0, err
		}
	}
}

func benchmark(b *testing.B, file []byte, pcapgo func(io.Reader) (int, error)) {
	for _, reader := range []struct {
		name string
		read func(io.Reader) (int, error)
	}{{"rdmadump", ours}, {"pcapgo", pcapgo}} {
		b.Run(reader.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				if n, err := reader.read(bytes.NewReader(file)); err != nil || n != benchFrames {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchFrames, "ns/frame")
		})
	}
}
