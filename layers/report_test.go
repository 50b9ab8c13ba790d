package layers_test

import (
	"encoding/json"
	"testing"

	"github.com/google/gopacket"

	"github.com/rdmadump/rdmadump/dissect"
	rdmalayers "github.com/rdmadump/rdmadump/layers"
)

// The same report comes out of a capture whether its packets were located here
// or by gopacket.
func TestReportOfBothRoads(t *testing.T) {
	for name, frames := range shipped(t) {
		own, via := dissect.NewAnalyzer(dissect.Config{}), dissect.NewAnalyzer(dissect.Config{})
		own.OpenCapture(name, "pcap")
		via.OpenCapture(name, "pcap")
		for i, f := range frames {
			own.Frame(&dissect.Frame{Data: f.data, WireLen: f.info.Length, Time: f.info.Timestamp.UnixNano(),
				Link: dissect.LinkType(f.link), Number: i + 1})
			packet := gopacket.NewPacket(f.data, f.link, gopacket.Lazy)
			packet.Metadata().CaptureInfo = f.info
			p, ok := rdmalayers.Packet(packet)
			if !ok {
				via.Other(0, f.info.Timestamp.UnixNano())
				continue
			}
			p.Number = i + 1
			via.Packet(&p)
		}
		a, b := text(t, own.Report()), text(t, via.Report())
		if a != b {
			t.Errorf("%s: the reports differ\n own %s\n via %s", name, a, b)
		}
	}
}

func text(t *testing.T, r *dissect.Report) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
