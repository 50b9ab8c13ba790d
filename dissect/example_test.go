package dissect_test

import (
	"encoding/hex"
	"fmt"

	"github.com/rdmadump/rdmadump/capture"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// Feed the frames of a capture, hear of events, and read the report.
func Example() {
	a := dissect.NewAnalyzer(dissect.Config{Events: func(e *dissect.Event) {
		if e.Kind == dissect.GapOpened || e.Kind == dissect.GapClosed {
			fmt.Println("frame", e.Frame, e.Kind, psn.Range{First: *e.First, Last: *e.Last}, e.Where)
		}
	}})
	part, err := capture.NewRotation([]capture.Source{{Name: "../testdata/cases/04-gap-nak-gobackn.pcap"}}).Open()
	if err != nil {
		panic(err)
	}
	a.OpenCapture(part.Info().Name, part.Info().Format)
	var f dissect.Frame
	for err = part.Next(&f); err == nil; err = part.Next(&f) {
		a.Frame(&f)
	}
	a.CloseCapture(0, part.Info().Drops, err) // io.EOF is a clean end
	a.End()
	report := a.Report()
	fmt.Printf("stopped early: %q\n", report.Captures[0].Error)
	s := report.Connections[0].Streams[0]
	fmt.Println("lost", s.Lost, s.LostRanges, "resent", s.Retransmitted.Packets, s.Retransmitted.ByVerdict)
	// Output:
	// frame 3 gap-opened 102-103 upstream
	// frame 9 gap-closed 102-103 upstream
	// stopped early: ""
	// lost 2 [102-103] resent 6 map[needed:2 wasted:4]
}

// Find the RDMA packet in a frame, here an RC SEND Only over IPv4 without ICRC.
func ExampleLocator_Locate() {
	data, _ := hex.DecodeString("020000000002020000000001" + "0800" +
		"450000300000400040110000c0000201c0000202" + "c00012b7001c0000" +
		"0440ffff0000011180001b58" + "0123456700000000")
	var l dissect.Locator
	var p dissect.Packet
	f := dissect.Frame{Data: data, WireLen: len(data), Link: dissect.LinkEthernet, Number: 1}
	fmt.Println(l.Locate(&f, &p), p.Src, p.Dst, p.Carrier, len(p.Transport()), "bytes")
	// Output:
	// found 192.0.2.1 192.0.2.2 rocev2 20 bytes
}

// Pairs are stated as on the command line.
func ExampleParsePair() {
	p, err := dissect.ParsePair("192.0.2.1/0x222=192.0.2.2/273")
	fmt.Println(p[0].Address, p[0].QPN, p[1].Address, p[1].QPN, err)
	// Output:
	// 192.0.2.1 0x000222 192.0.2.2 0x000111 <nil>
}
