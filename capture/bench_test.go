package capture

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/gopacket/pcapgo"

	"github.com/rdmadump/rdmadump/dissect"
)

// BenchmarkRead reads one file with this package, with pcapgo behind a buffer of
// the same size, and raw, so that ratios of one run say what the reader is
// worth. 96 bytes is a common snaplen, 1100 a frame of path MTU 1024.
func BenchmarkRead(b *testing.B) {
	const frames = 100000
	for _, size := range []int{96, 1100} {
		for _, form := range []struct {
			name   string
			file   []byte
			pcapgo func(io.Reader) (int, error)
		}{
			{"pcap", benchPcap(frames, size), pcapgoClassic},
			{"pcapng", benchPcapng(frames, size), pcapgoNg},
		} {
			path := filepath.Join(b.TempDir(), "x")
			if err := os.WriteFile(path, form.file, 0o600); err != nil {
				b.Fatal(err)
			}
			for _, reader := range []struct {
				name string
				read func(io.Reader) (int, error)
			}{{"rdmadump", ours}, {"pcapgo", form.pcapgo}, {"raw", raw}} {
				b.Run(fmt.Sprintf("%s/%d/%s", form.name, size, reader.name), func(b *testing.B) {
					b.ReportAllocs()
					b.SetBytes(int64(len(form.file)))
					for b.Loop() {
						file, err := os.Open(path)
						if err != nil {
							b.Fatal(err)
						}
						n, err := reader.read(file)
						if err != nil || n != frames && n != 0 {
							b.Fatal(n, err)
						}
						file.Close()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/frames, "ns/frame")
				})
			}
		}
	}
}

func benchPcap(frames, size int) []byte {
	p := pcapBuilder{order: little, magic: 0xa1b2c3d4}
	out := p.file(1, 65535)
	for i := range frames {
		out = p.record(out, 1700000000, uint32(i), uint32(size), make([]byte, size))
	}
	return out
}

func benchPcapng(frames, size int) []byte {
	ng := ngBuilder{order: little}
	ng.section()
	ng.iface(1, 0, option{9, []byte{9}})
	for i := range frames {
		ng.enhanced(0, 1700000000000000000+uint64(i), uint32(size), make([]byte, size))
	}
	return ng.out
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

func pcapgoClassic(src io.Reader) (int, error) {
	r, err := pcapgo.NewReader(bufio.NewReaderSize(src, windowSize))
	for n := 0; err == nil; n++ {
		if _, _, err = r.ZeroCopyReadPacketData(); err == io.EOF {
			return n, nil
		}
	}
	return 0, err
}

func pcapgoNg(src io.Reader) (int, error) {
	r, err := pcapgo.NewNgReader(bufio.NewReaderSize(src, windowSize), pcapgo.DefaultNgReaderOptions)
	for n := 0; err == nil; n++ {
		if _, _, err = r.ZeroCopyReadPacketData(); err == io.EOF {
			return n, nil
		}
	}
	return 0, err
}

func raw(src io.Reader) (int, error) {
	buf := make([]byte, windowSize)
	for {
		if _, err := src.Read(buf); err == io.EOF {
			return 0, nil
		} else if err != nil {
			return 0, err
		}
	}
}
