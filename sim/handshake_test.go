package sim

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
	"github.com/rdmadump/rdmadump/dissect"
	"github.com/rdmadump/rdmadump/psn"
)

// managed are the management datagrams of a capture, in order, each with who
// sent it.
func managed(t *testing.T, frames []dissect.Frame) (all []codec.CM, from []string) {
	t.Helper()
	locator, at := dissect.Locator{}, dissect.Packet{}
	for i := range frames {
		if locator.Locate(&frames[i], &at) != dissect.Found {
			t.Fatalf("frame %d is not found", i+1)
		}
		var p codec.Packet
		if err := p.Decode(at.Transport(), len(at.Transport())); err != nil {
			t.Fatal(err)
		}
		if p.BTH.Opcode.Service() != codec.UD {
			continue
		}
		if p.BTH.DestQP != 1 || p.DETH.SrcQP != 1 || p.DETH.QKey != 0x80010000 || len(p.Payload) != 256 {
			t.Errorf("frame %d: to QP %d from %d, Q_Key %#x, %d bytes", i+1, p.BTH.DestQP, p.DETH.SrcQP, p.DETH.QKey, len(p.Payload))
		}
		var m codec.CM
		if err := m.Decode(p.Payload); err != nil {
			t.Fatal(err)
		}
		all, from = append(all, m), append(from, at.Src.String())
	}
	return all, from
}

// A connection is asked for, accepted, used, and ended, with the numbers that the
// queue pairs then use.
func TestHandshakeMessages(t *testing.T) {
	s := Default()
	start := psn.PSN(0xabcdef)
	s.Handshake, s.Pairs.StartPSN, s.Pairs.SenderQPN, s.Pairs.ReceiverQPN = true, &start, 0x1234, 0x4321
	s.Pairs.MTU, s.Pairs.RetryCount, s.Pairs.RNRRetryCount, s.Pairs.AckTimeout, s.Pairs.ReadLimit = 4096, 5, 6, 17, 4
	r := play(t, &s, "sender")
	all, from := managed(t, r.frames["sender"])
	var names []string
	for i := range all {
		names = append(names, fmt.Sprint(all[i].Attribute, " ", from[i]))
	}
	if want := []string{"REQ 10.0.0.1", "REP 10.0.0.2", "RTU 10.0.0.1", "DREQ 10.0.0.1", "DREP 10.0.0.2"}; !slices.Equal(names, want) {
		t.Fatalf("%v, want %v", names, want)
	}
	req, rep := all[0].REQ, all[1].REP
	if req.LocalQPN != 0x1234 || req.StartingPSN != start || codec.MTU(req.PathMTU) != 4096 || req.RetryCount != 5 || req.RNRRetryCount != 6 ||
		req.Primary.LocalAckTimeout != 17 || req.ResponderResources != 4 || req.InitiatorDepth != 4 || req.TransportService != 0 {
		t.Errorf("REQ %+v", req)
	}
	if rep.LocalQPN != 0x4321 || rep.StartingPSN != start || rep.RemoteCommID != req.LocalCommID || rep.RNRRetryCount != 6 {
		t.Errorf("REP %+v", rep)
	}
	if rtu := all[2].RTU; rtu.LocalCommID != req.LocalCommID || rtu.RemoteCommID != rep.LocalCommID {
		t.Errorf("RTU %+v", rtu)
	}
	if dreq := all[3].DREQ; dreq.RemoteQPN != 0x4321 || dreq.RemoteCommID != rep.LocalCommID {
		t.Errorf("DREQ %+v", dreq)
	}
	if src, dst := all[0].IPCM.Addrs(); !all[0].Has(codec.HeaderIPCM) || src.String() != "10.0.0.1" || dst.String() != "10.0.0.2" {
		t.Errorf("IP CM %+v", all[0].IPCM)
	}
	if all[0].Has(codec.HeaderRate) || all[1].Has(codec.HeaderRate) {
		t.Error("go-back-N advertises a rate")
	}
	data := slices.IndexFunc(r.truth, func(l line) bool { return l.Opcode.Service() == codec.RC })
	if l := r.truth[data]; l.PSN != uint32(start) || l.DestQP != "0x004321" {
		t.Errorf("the first packet is %+v", l)
	}
}

// A windowless sender advertises how many packets of full length it sends in a
// second: at 20 Gb/s one of 1024+114 bytes takes 456 ns.
func TestWindowlessAdvertisesItsRate(t *testing.T) {
	for _, carrier := range []Carrier{CarrierIPv4, CarrierIPv6, CarrierRoCEv1, CarrierIB} {
		s := *library(t)["tcaeth-anchored"]
		s.Carrier = carrier
		all, _ := managed(t, play(t, &s, "sender").frames["sender"])
		for _, m := range all[:2] {
			if !m.Has(codec.HeaderRate) || m.Rate.PacketsPerSecond != 1_000_000_000/456 {
				t.Errorf("%s: %v advertises %+v", carrier, m.Attribute, m.Rate)
			}
		}
	}
}
