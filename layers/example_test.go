package layers_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	rdmalayers "github.com/rdmadump/rdmadump/layers"
)

// open makes a packet source of a compressed capture. The error checks that a
// program needs would hide what the examples show.
func open(name string) (*gopacket.PacketSource, io.Closer) {
	f, _ := os.Open(name)
	z, _ := gzip.NewReader(f)
	r, _ := pcapgo.NewReader(z)
	return gopacket.NewPacketSource(r, r.LinkType()), f
}

// Every header is a layer, found as gopacket's own are.
func Example_reader() {
	source, file := open("../testdata/pcaps/rxe-read_req_loss-sender.pcap.gz")
	defer file.Close()
	for range 40 {
		packet, err := source.NextPacket()
		if err != nil {
			break
		}
		bth, ok := packet.Layer(rdmalayers.LayerTypeBTH).(*rdmalayers.BTH)
		if !ok {
			continue
		}
		if reth, ok := packet.Layer(rdmalayers.LayerTypeRETH).(*rdmalayers.RETH); ok {
			fmt.Printf("%s, PSN %d, %d bytes\n", bth.Opcode, bth.PSN, reth.DMALen)
		}
	}
	// Output:
	// RC RDMA READ Request, PSN 28672, 8192 bytes
	// RC RDMA READ Request, PSN 28680, 8192 bytes
	// RC RDMA READ Request, PSN 28688, 8192 bytes
	// RC RDMA READ Request, PSN 28696, 8192 bytes
	// RC RDMA READ Request, PSN 28672, 8192 bytes
	// RC RDMA READ Request, PSN 28680, 8192 bytes
	// RC RDMA READ Request, PSN 28688, 8192 bytes
	// RC RDMA READ Request, PSN 28696, 8192 bytes
}

// FixLengths pads the payload; the ICRC comes last, into the finished frame.
func Example_writer() {
	eth := &layers.Ethernet{SrcMAC: []byte{2, 0, 0, 0, 0, 1}, DstMAC: []byte{2, 0, 0, 0, 0, 2}, EthernetType: layers.EthernetTypeIPv4}
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: []byte{192, 0, 2, 1}, DstIP: []byte{192, 0, 2, 2}}
	udp := &layers.UDP{SrcPort: 49152, DstPort: rdmalayers.UDPPortRoCEv2}
	bth := &rdmalayers.BTH{BTH: codec.BTH{Opcode: codec.Op(codec.RC, codec.WriteOnly), PKey: 0xffff, DestQP: 0x11, PSN: 7}}
	reth := &rdmalayers.RETH{RETH: codec.RETH{VA: 0x7f0000001000, RKey: 0x1234, DMALen: 5}}
	buf := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true},
		eth, ip, udp, bth, reth, gopacket.Payload("hello"), &rdmalayers.ICRC{})
	if err == nil {
		err = rdmalayers.FixICRC(buf.Bytes())
	}
	fmt.Println(len(buf.Bytes()), "bytes, error:", err)

	packet, _ := rdmalayers.Packet(gopacket.NewPacket(buf.Bytes(), layers.LayerTypeEthernet, gopacket.NoCopy))
	fmt.Println("ICRC", packet.ICRC())
	// Output:
	// 82 bytes, error: <nil>
	// ICRC good
}

// Packet hands over what gopacket decoded, and the analysis explains it.
func Example_analysis() {
	source, file := open("../testdata/pcaps/rxe-nth_drops-receiver.pcap.gz")
	defer file.Close()
	analyzer := dissect.NewAnalyzer(dissect.Config{})
	for {
		packet, err := source.NextPacket()
		if err != nil {
			break
		}
		if p, ok := rdmalayers.Packet(packet); ok {
			analyzer.Packet(&p)
		}
	}
	for _, c := range analyzer.Report().Connections {
		fmt.Println(c.Streams[0].Lost, "lost:", c.Streams[0].LostRanges)
	}
	// Output:
	// 5 lost: [4105 4145-4147 4340]
}
