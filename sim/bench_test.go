package sim

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
)

// processor is the time that this process has had of processors, which other
// processes disturb less than that of the wall.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// pour makes about so many packets of 1 KiB and captures them at the sender.
func pour(b *testing.B, packets int, captures ...Capture) {
	s := Default()
	s.Work[0].Size = Fixed(1 << 20)
	s.Work[0].Count = packets/1088 + 1
	if _, err := Run(&s, Output{Captures: captures}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkFlow is what a packet costs from the queue pair that sends it to a
// capture in the null device, the receiving end included, without and with the
// capture; and how often the whole of it goes into what gopacket takes to
// serialise and write the same packets there. They take turns, so that whatever
// else the machine does slows all of them alike.
func BenchmarkFlow(b *testing.B) {
	var frames []dissect.Frame
	pour(b, 1088, Capture{At: "sender", Frame: func(f *dissect.Frame) error {
		kept := *f
		kept.Data = append([]byte{}, f.Data...)
		frames = append(frames, kept)
		return nil
	}})
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	const turn = 1 << 17 // packets
	var times [3]time.Duration
	b.ResetTimer()
	for left := b.N; left > 0; left -= turn {
		n := min(left, turn)
		for i, work := range [...]func(){
			func() { gopacketWriter(b, null, frames, n) },
			func() {
				w, err := capture.NewWriter(null, os.DevNull, capture.WriterOptions{Form: capture.PcapMicro})
				if err != nil {
					b.Fatal(err)
				}
				pour(b, n, Capture{At: "sender", Frame: w.WriteFrame})
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			},
			func() { pour(b, n) },
		} {
			before := processor(b)
			work()
			times[i] += processor(b) - before
		}
	}
	for i, name := range [...]string{"gopacket", "flow", "bare"} {
		b.ReportMetric(float64(times[i])/float64(b.N), name+"-ns/packet")
	}
	b.ReportMetric(float64(times[0])/float64(times[1]), "x-gopacket")
}

// gopacketWriter writes n packets like the frames. They are collected as those of
// the capture writer are: alone each would cost two system calls.
func gopacketWriter(b *testing.B, null io.Writer, frames []dissect.Frame, n int) {
	collected := bufio.NewWriterSize(null, 1<<17)
	w := pcapgo.NewWriter(collected)
	if err := w.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
		b.Fatal(err)
	}
	buffer := gopacket.NewSerializeBuffer()
	options := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	ethernet := layers.Ethernet{SrcMAC: make(net.HardwareAddr, 6), DstMAC: make(net.HardwareAddr, 6), EthernetType: layers.EthernetTypeIPv4}
	ip := layers.IPv4{Version: 4, TTL: 64, TOS: 2, Flags: layers.IPv4DontFragment, Protocol: layers.IPProtocolUDP}
	udp := layers.UDP{DstPort: 4791}
	if err := udp.SetNetworkLayerForChecksum(&ip); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		f := &frames[i%len(frames)]
		ip.SrcIP, ip.DstIP, ip.Id = f.Data[26:30], f.Data[30:34], uint16(i)
		udp.SrcPort = layers.UDPPort(binary.BigEndian.Uint16(f.Data[34:]))
		if err := gopacket.SerializeLayers(buffer, options, &ethernet, &ip, &udp, gopacket.Payload(f.Data[42:])); err != nil {
			b.Fatal(err)
		}
		out := buffer.Bytes()
		icrc, err := codec.ICRC(codec.RoCEv2IPv4, out[14:len(out)-4], 28)
		if err != nil {
			b.Fatal(err)
		}
		binary.LittleEndian.PutUint32(out[len(out)-4:], icrc)
		if err := w.WritePacket(gopacket.CaptureInfo{Timestamp: time.Unix(0, f.Time), CaptureLength: len(out), Length: len(out)}, out); err != nil {
			b.Fatal(err)
		}
	}
	if err := collected.Flush(); err != nil {
		b.Fatal(err)
	}
}
